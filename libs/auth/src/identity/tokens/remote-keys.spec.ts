import { Logger } from '@nestjs/common';
import { type JsonWebKey, generateKeyPairSync } from 'node:crypto';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { MovableClock } from '../../../../../test/support/hosts/app';
import { keySetSource, RemoteKeys } from './remote-keys';
import { Keyring } from './keyring';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = (kid: string): JsonWebKey => ({ ...publicKey.export({ format: 'jwk' }), kid });

/** Creates remote keys that read from a mock function. */
function keysFrom(read: () => Promise<{ keys: JsonWebKey[] }>, timeoutMs = 30_000) {
  const [clock, jwks] = [new MovableClock(), jest.fn(read)];
  clock.stop();
  return { clock, jwks, remote: new RemoteKeys(keySetSource(jwks), 'ES256', timeoutMs, clock) };
}

describe('keys that a function reads', () => {
  beforeEach(() => jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined));

  it('are awaited only when a token names a key that is not known', async () => {
    const { remote, jwks } = keysFrom(async () => ({ keys: [jwk('k1')] }));
    for (const kid of [undefined, null, 1, {}, ['k1']]) expect(remote.prepare(kid)).toBeUndefined();
    expect(jwks).not.toHaveBeenCalled();
    await remote.prepare('k1');
    expect(remote.prepare('k1')).toBeUndefined();
    expect(jwks).toHaveBeenCalledTimes(1);
  });

  it('are read again after 10 minutes, and known keys are not awaited', async () => {
    const { remote, jwks, clock } = keysFrom(async () => ({ keys: [jwk('k1')] }));
    await remote.prepare('k1');
    clock.advance(599);
    remote.prepare('k1');
    expect(jwks).toHaveBeenCalledTimes(1);
    clock.advance(1);
    expect(remote.prepare('k1')).toBeUndefined();
    expect(jwks).toHaveBeenCalledTimes(2);
  });

  it('are not read a second time during a read of more than 10 seconds', async () => {
    const answer: { send?: () => void } = {};
    const set = { keys: [jwk('k1')] };
    const { remote, jwks, clock } = keysFrom(() => new Promise((resolve) => (answer.send = () => resolve(set))));
    const waiting = [remote.prepare('k1')];
    clock.advance(20);
    waiting.push(remote.prepare('k1'));
    answer.send!();
    await Promise.all(waiting);
    expect(jwks).toHaveBeenCalledTimes(1);
    expect(remote.prepare('k1')).toBeUndefined();
  });

  it.each([
    ['forward', 3600],
    ['back', -3600],
  ])('keep their age when the time of the machine is set %s by an hour', async (_, seconds) => {
    const { remote, jwks, clock } = keysFrom(async () => ({ keys: [jwk('k1')] }));
    await remote.prepare('k1');
    jest.spyOn(clock, 'now').mockReturnValue(clock.now() + seconds * 1000);
    // Known keys are fresh, and a read for an unknown key has to wait for 10 seconds.
    expect(remote.prepare('k1')).toBeUndefined();
    await remote.prepare('k2');
    expect(jwks).toHaveBeenCalledTimes(1);
    clock.advance(10);
    await remote.prepare('k2');
    expect(jwks).toHaveBeenCalledTimes(2);
    clock.advance(600);
    expect(remote.prepare('k1')).toBeUndefined();
    expect(jwks).toHaveBeenCalledTimes(3);
  });

  it.each<[string, () => Promise<{ keys: JsonWebKey[] }>]>([
    ['rejects', () => Promise.reject(new Error('no'))],
    ['rejects with undefined', () => Promise.reject(undefined)],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['returns undefined', async () => undefined as never],
    ['does not answer', () => new Promise<never>(() => undefined)],
  ])('are unavailable while it %s', async (_, read) => {
    const { remote, jwks, clock } = keysFrom(read, 50);
    await expect(remote.prepare('k1')).rejects.toThrow(StoreUnavailable);
    await expect(remote.hasAny()).rejects.toThrow(StoreUnavailable);
    expect(jwks).toHaveBeenCalledTimes(1);
    clock.advance(10);
    jwks.mockResolvedValue({ keys: [jwk('k1')] });
    expect(await remote.hasAny()).toBe(true);
    expect(remote.keys.has('k1')).toBe(true);
  });

  it('are used and published by a keyring, which cannot sign', async () => {
    const { remote } = keysFrom(async () => ({ keys: [jwk('k1')] }));
    const options = { algorithm: 'ES256', keys: { active: 'default', public: {} }, previousSecrets: [] };
    const keyring = new Keyring({ ...options, nameOf: (name: string) => name } as unknown as GuardConfig, remote);
    expect(keyring.jwks()).toEqual({ keys: [] });
    await remote.prepare('k1');
    expect(keyring.candidates('k1')).toEqual([remote.keys.get('k1')]);
    expect(keyring.jwks()).toEqual({ keys: [{ ...jwk('k1'), use: 'sig', alg: 'ES256' }] });
    expect(keyring.canSign).toBe(false);
  });
});
