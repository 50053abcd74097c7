import { Logger } from '@nestjs/common';
import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import { MovableClock } from '../../../../../test/support/hosts/app';
import { Clock } from '../../foundation/platform/clock';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { Realm, RealmScope, Realms } from '../../foundation/realm/realm';
import { MemorySecurityStore } from '../../foundation/security-store/memory-security-store';
import { Keyring } from '../../identity/tokens/keyring';
import { AuthHealth } from './auth-health';

const SECRET = 'a-secret-of-a-guard-that-is-long-enough-0123456789';

const ringOf = (): Keyring =>
  new Keyring({
    algorithm: 'HS256',
    secret: SECRET,
    previousSecrets: [],
    nameOf: (option: string) => option,
  } as unknown as GuardConfig);

/** The health of an application with these guards. */
function healthOf(rings: Record<string, Keyring>): AuthHealth {
  const realms = new Realms();
  for (const [guard, ring] of Object.entries(rings)) {
    realms.add(new RealmScope(new Realm({ guard } as GuardConfig), { get: () => ring } as never));
  }
  return new AuthHealth(undefined as never, undefined as never, realms, undefined as never, [], new Clock());
}

describe('the health of the keys', () => {
  const DOWN = { auth_keys: { status: 'down', reason: 'failed' } };

  it('is up where the keys of every guard verify what they sign', async () => {
    expect(await healthOf({ api: ringOf(), admin: ringOf() }).keys()).toEqual({ auth_keys: { status: 'up' } });
  });

  it('is down where those of any guard do not, and says no more than that; the log names the guard once', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const broken = ringOf();
    const health = healthOf({ api: ringOf(), admin: broken });
    const candidates = jest.spyOn(broken, 'candidates').mockReturnValue([]);
    for (let i = 0; i < 3; i++) expect(await health.keys()).toEqual(DOWN);
    const line = 'The health check auth_keys is down (failed). Guards whose keys do not verify: admin.';
    expect(error.mock.calls).toEqual([[line, undefined]]);
    candidates.mockImplementation(() => {
      throw new Error(SECRET);
    });
    expect(await health.keys()).toEqual(DOWN);
    expect(error).toHaveBeenCalledTimes(2);
  });
});

describe('the health of the store of a service that only verifies', () => {
  const clock = new MovableClock();
  let completeness: () => Promise<string>;
  let health: AuthHealth;
  const later = (): void => clock.advance(1);

  beforeEach(() => {
    clock.stop();
    jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const denylist = { read: async () => ({ denied: false, complete: true }), completeness: () => completeness() };
    const realms = new Realms();
    const realm = new Realm({ guard: 'api', features: { denylist: true } } as GuardConfig);
    realms.add(new RealmScope(realm, { get: () => denylist } as never));
    const [database, store] = [{ hasEntity: () => false } as never, new MemorySecurityStore(new Clock())];
    health = new AuthHealth(database, store, realms, { verifyOnly: true } as AuthConfig, [], clock);
  });

  it('is pending while the denylist is complete for no session, and up with a warning if it is for some', async () => {
    completeness = async () => 'none';
    expect(await health.securityStore()).toEqual({ auth_store: { status: 'down', reason: 'pending', step: 'read' } });
    later();
    completeness = async () => 'some';
    expect(await health.securityStore()).toEqual({ auth_store: { status: 'up', warning: 'incomplete' } });
    later();
    completeness = async () => 'all';
    expect(await health.securityStore()).toEqual({ auth_store: { status: 'up' } });
  });

  it('reads all groups once a second at most, also while it is down', async () => {
    let reads = 0;
    completeness = async () => {
      reads++;
      throw new StoreUnavailable('Redis');
    };
    const down = { auth_store: { status: 'down', reason: 'unreachable', step: 'read' } };
    for (let i = 0; i < 5; i++) expect(await health.securityStore()).toEqual(down);
    expect(reads).toBe(1);
    later();
    expect(await health.securityStore()).toEqual(down);
    expect(reads).toBe(2);
  });
});
