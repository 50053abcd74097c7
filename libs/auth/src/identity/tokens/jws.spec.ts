import { JwtService } from '@nestjs/jwt';
import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { Clock } from '../../foundation/platform/clock';
import type { Realm } from '../../foundation/realm/realm';
import { AccessTokens } from './access-tokens';
import { Keyring, VerifiedSignatures, signJws, verifyJws } from './keyring';
import type { RemoteKeys } from './remote-keys';

const ring = (secret: string, previousSecrets: string[] = []): Keyring =>
  new Keyring({ algorithm: 'HS256', secret, previousSecrets, keys: {}, nameOf: String } as unknown as GuardConfig);

const [OLD, NEW] = ['old-secret-0123456789-0123456789-01', 'new-secret-0123456789-0123456789-01'];

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ES256 = {
  algorithm: 'ES256',
  keys: {
    active: 'k1',
    private: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    public: { k1: publicKey.export({ type: 'spki', format: 'pem' }) },
  },
  nameOf: String,
} as unknown as GuardConfig;
const pair = (): Keyring => new Keyring(ES256);
const tokenOf = (id: number, keyring = pair()): string => signJws(keyring, 'at+jwt', { id });

describe('a remembered signature', () => {
  let verify: jest.SpyInstance;
  beforeEach(() => (verify = jest.spyOn(JwtService.prototype, 'verify')));
  afterEach(() => verify.mockRestore());

  it('is verified once, and the claims are read anew each time', () => {
    const [keyring, signatures, token] = [pair(), new VerifiedSignatures(), tokenOf(1)];
    const [first, second] = [verifyJws(keyring, token, signatures), verifyJws(keyring, token, signatures)];
    expect(first).toMatchObject({ header: { typ: 'at+jwt', alg: 'ES256' }, claims: { id: 1 } });
    expect(second).toEqual(first);
    expect(second!.claims).not.toBe(first!.claims);
    expect(verify).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['HS256', 2, () => ring(OLD)],
    ['ES256', 1, pair],
  ] as const)(
    'is used for access tokens with an asymmetric algorithm only: two reads with %s are verified %i times',
    (algorithm, calls, make) => {
      const options = { algorithm, issuer: 'i', audience: ['a'], leeway: 0, accessTtl: 900, guard: 'api' };
      const clock = new Clock();
      const tokens = new AccessTokens(make(), { options } as unknown as Realm, clock, { members: [] } as never);
      const token = tokens.mint({
        userId: '1',
        amr: [],
        authTime: 0,
        custom: {},
        scope: undefined,
        pinned: false,
      } as never);
      tokens.read(token);
      tokens.read(token);
      expect(verify).toHaveBeenCalledTimes(calls);
    },
  );

  it('is of the complete text: another payload, header or signature is verified', () => {
    const [keyring, signatures, token] = [pair(), new VerifiedSignatures(), tokenOf(1)];
    verifyJws(keyring, token, signatures);
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const other = Buffer.from(JSON.stringify({ id: 2 })).toString('base64url');
    const none = Buffer.from(JSON.stringify({ typ: 'at+jwt', alg: 'none' })).toString('base64url');
    for (const changed of [
      [header, other, signature],
      [none, payload, signature],
      [header, payload, ''],
      [header, payload, `${signature}x`],
    ]) {
      expect(verifyJws(keyring, changed.join('.'), signatures)).toBeNull();
      expect(verifyJws(keyring, changed.join('.'), signatures)).toBeNull();
    }
  });

  it('is of one key: a secret that is no secret of the ring any more verifies nothing', () => {
    const [signatures, token] = [new VerifiedSignatures(), tokenOf(1, ring(OLD))];
    expect(verifyJws(ring(NEW, [OLD]), token, signatures)).not.toBeNull();
    expect(verifyJws(ring(NEW), token, signatures)).toBeNull();
  });

  it('is of one key: a public key that was removed from a remote key set verifies nothing', () => {
    const config = { algorithm: 'ES256', keys: { active: 'k1', public: {} }, nameOf: String } as unknown as GuardConfig;
    const remote = { keys: new Map([['k1', publicKey]]) };
    const [keyring, signatures] = [new Keyring(config, remote as unknown as RemoteKeys), new VerifiedSignatures()];
    const token = new JwtService({ privateKey }).sign({}, { algorithm: 'ES256', header: { alg: 'ES256', kid: 'k1' } });
    expect(verifyJws(keyring, token, signatures)).not.toBeNull();
    expect(verifyJws(keyring, token, signatures)).not.toBeNull();
    expect(verify).toHaveBeenCalledTimes(1);
    remote.keys = new Map([['k1', generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey]]);
    expect(verifyJws(keyring, token, signatures)).toBeNull();
    remote.keys = new Map();
    expect(verifyJws(keyring, token, signatures)).toBeNull();
  });

  it('is kept while its token is used, and forgotten after two thousand other tokens', () => {
    const [signatures, key] = [new VerifiedSignatures(), createSecretKey(Buffer.from(OLD))];
    const addSome = (from: number): void => {
      for (let i = from; i < from + 900; i++) signatures.add(`other-${i}`, key);
    };
    signatures.add('token', key);
    for (let i = 0; i < 5; i++) {
      addSome(i * 900);
      expect(signatures.keyOf('token')).toBe(key);
    }
    for (let i = 5; i < 8; i++) addSome(i * 900);
    expect(signatures.keyOf('token')).toBeUndefined();
  });
});
