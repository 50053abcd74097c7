import { resolveOptions } from '../../foundation/config/resolve-options';
import type { AuthModuleOptions } from '../../foundation/config/auth-options';
import { keptTokens } from './reset-token.store';

const kept = (options: AuthModuleOptions) => keptTokens(resolveOptions(options).guards);

describe('the rows of reset tokens', () => {
  it('are kept for an hour by default, also those of an unknown broker', () => {
    expect(kept({})).toEqual({ known: [{ guard: 'api', broker: '', seconds: 3600 }], others: 3600 });
  });

  it('are kept for the validity of their broker, and at least for its pause', () => {
    const brokers = { staff: { expireMinutes: 5, throttleSeconds: 900 }, kiosk: { throttleSeconds: 0 } };
    expect(kept({ passwordReset: { expireMinutes: 10, brokers } })).toEqual({
      known: [
        { guard: 'api', broker: 'staff', seconds: 900 },
        { guard: 'api', broker: 'kiosk', seconds: 600 },
        { guard: 'api', broker: '', seconds: 600 },
      ],
      others: 3600,
    });
  });

  it('of an unknown broker are kept as long as those of the longest known one, of any guard', () => {
    const guards = { admin: { passwordReset: { expireMinutes: 1440 } } };
    expect(kept({ guards })).toEqual({
      known: [
        { guard: 'admin', broker: '', seconds: 86_400 },
        { guard: 'api', broker: '', seconds: 3600 },
      ],
      others: 86_400,
    });
  });
});
