import type { AuthModuleOptions } from '../../foundation/config/auth-options';
import { keptTokens } from './reset-token.store';
import { resolveOptions } from '../../foundation/config/options.testkit';

const WEEK = 604_800;

const kept = (options: AuthModuleOptions) => keptTokens(resolveOptions(options).guards);

describe('the rows of reset tokens', () => {
  it('are kept for an hour by default', () => {
    expect(kept({})).toEqual({ known: [{ guard: 'api', broker: '', seconds: 3600 }], others: WEEK });
  });

  it('are kept for the validity of their broker, and at least for its pause', () => {
    const brokers = { staff: { expireMinutes: 5, throttleSeconds: 900 }, kiosk: { throttleSeconds: 0 } };
    expect(kept({ passwordReset: { expireMinutes: 10, brokers } })).toEqual({
      known: [
        { guard: 'api', broker: 'staff', seconds: 900 },
        { guard: 'api', broker: 'kiosk', seconds: 600 },
        { guard: 'api', broker: '', seconds: 600 },
      ],
      others: WEEK,
    });
  });

  it('of an unknown broker are kept for a week, the maximum validity of a link', () => {
    const guards = { admin: { passwordReset: { expireMinutes: 1440 } } };
    expect(kept({ guards })).toEqual({
      known: [
        { guard: 'admin', broker: '', seconds: 86_400 },
        { guard: 'api', broker: '', seconds: 3600 },
      ],
      others: WEEK,
    });
  });
});
