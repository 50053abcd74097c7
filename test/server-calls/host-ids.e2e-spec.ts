import type { Auth } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/hosts/app';

/** What a host passes by mistake, for example the id of a user that it did not find. */
const NO_IDS: readonly [name: string, id: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['an empty text', ''],
  ['a number that is no whole one', Number.NaN],
  ['an object', { id: 1 }],
];

/** The calls with an id. Each of them would have no effect for an id that no user and no session has. */
const CALLS: readonly [name: string, call: (auth: Auth, id: never) => Promise<unknown>][] = [
  ['startSession', (auth, id) => auth.startSession(id)],
  ['revoke', (auth, id) => auth.revoke(id)],
  ['revokeAll', (auth, id) => auth.revokeAll(id)],
  ['revokeOthers', (auth, id) => auth.revokeOthers(id, randomUUID())],
  ['revokeOthers with a session', (auth, id) => auth.revokeOthers(1, id)],
  ['twoFactor.isEnabled', (auth, id) => auth.twoFactor.isEnabled(id)],
  ['twoFactor.confirm', (auth, id) => auth.twoFactor.confirm(id, '000000')],
  ['twoFactor.disable', (auth, id) => auth.twoFactor.disable(id)],
  ['twoFactor.recoveryCodeCount', (auth, id) => auth.twoFactor.recoveryCodeCount(id)],
  ['twoFactor.replaceRecoveryCodes', (auth, id) => auth.twoFactor.replaceRecoveryCodes(id)],
  [
    'twoFactor.importFactor',
    (auth, id) => auth.twoFactor.importFactor(id, { secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }),
  ],
];

describe('a call of the host', () => {
  const t = TestApp.forFile({ options: { features: { twoFactor: true } } });

  it.each(CALLS)('of %s refuses what is no id', async (_, call) => {
    for (const [name, id] of NO_IDS) {
      const refused: unknown = await call(t.auth, id as never).catch((error: unknown) => error);
      expect([name, refused]).toEqual([name, expect.any(TypeError)]);
      expect(String(refused)).toMatch(/(userId|familyId) is .*\. Pass an id: a text, or a whole number\.$/);
    }
  });
});
