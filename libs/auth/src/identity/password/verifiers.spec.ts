import { inspect } from 'node:util';
import { AuthConfigError } from '../../foundation/platform/errors';
import {
  bcryptVerifier,
  firebaseScryptVerifier,
  pbkdf2Verifier,
  phpassVerifier,
  scryptVerifier,
} from './imported/verifiers';

/** Replaces the package `bcrypt`, which runs outside the event loop. */
const native = ((name: string) => (name === 'bcrypt' ? { compare: async () => false } : undefined)) as never;

// From the documentation of firebase/scrypt.
const SIGNER_KEY = 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==';

describe('a verifier of imported hashes', () => {
  it.each([
    ['bcrypt', bcryptVerifier({ rounds: 4 })],
    ['bcrypt with the default rounds', bcryptVerifier()],
    ['scrypt', scryptVerifier({ ln: 10 })],
    ['scrypt with the largest ln for r=1', scryptVerifier({ ln: 15, r: 1 })],
    ['scrypt with many lanes', scryptVerifier({ ln: 4, p: 300 })],
    ['Firebase', firebaseScryptVerifier({ signerKey: SIGNER_KEY, memCost: 10 })],
    ['Firebase without a separator', firebaseScryptVerifier({ signerKey: SIGNER_KEY, saltSeparator: '', memCost: 10 })],
    ['phpass', phpassVerifier()],
    ['phpass with the lowest cost', phpassVerifier({ cost: 7 })],
    ['phpass with the highest cost', phpassVerifier({ cost: 15 })],
    ['PBKDF2 with SHA-1', pbkdf2Verifier({ hash: 'sha1', iterations: 1000 })],
    ['PBKDF2 with SHA-256', pbkdf2Verifier({ iterations: 1 })],
    ['PBKDF2 with SHA-512', pbkdf2Verifier({ hash: 'sha512', iterations: 1000 })],
  ])('for %s has a decoy that it recognises and that no password matches', async (_, verifier) => {
    expect(verifier.recognises(verifier.decoy)).toBe(true);
    for (const password of ['', 'x', 'x\0', 'пароль 🔑', 'x'.repeat(255)]) {
      await expect(verifier.verify(verifier.decoy, password)).resolves.toBe(false);
    }
  });

  it.each([
    ['sha1', 20],
    ['sha256', 32],
    ['sha512', 64],
  ])('for PBKDF2 with %s has a decoy with a key of %d bytes, the output length of the hash', (hash, bytes) => {
    const key = pbkdf2Verifier({ hash, iterations: 1000 }).decoy.split('$').at(-1)!;
    expect(Buffer.from(key, 'base64')).toHaveLength(bytes);
  });

  const invalid: [string, () => unknown, RegExp][] = [
    ...[3, 13, 16, 10.5, -1, NaN, Infinity, '12; x'].map((rounds): [string, () => unknown, RegExp] => [
      `bcrypt with ${rounds} rounds`,
      () => bcryptVerifier({ rounds: rounds as number }),
      /use a whole number from 4 to 12, or to 14 with the package bcrypt/,
    ]),
    ['native bcrypt with 15 rounds', () => bcryptVerifier({ rounds: 15 }, native), /from 4 to 14\.$/],
    ...[{ ln: 18 }, { ln: 0 }, { ln: 16.5 }, { r: 0 }, { p: 3 }, { ln: 16, r: 1 }, { ln: NaN }].map(
      (cost): [string, () => unknown, RegExp] => [
        `scrypt with ${JSON.stringify(cost)}`,
        () => scryptVerifier(cost),
        /use whole numbers from 1, with 128/,
      ],
    ),
    ...[
      { signerKey: '' },
      { signerKey: 'short' },
      { signerKey: 'not base64!'.repeat(9) },
      { signerKey: undefined },
      { memCost: 18 },
      { memCost: 14.5 },
      { memCost: '14' },
      { rounds: 0 },
      { rounds: 8.5 },
      { rounds: 99, memCost: 14 },
    ].map((parameters): [string, () => unknown, RegExp] => [
      `Firebase with ${JSON.stringify(parameters)}`,
      () => firebaseScryptVerifier({ signerKey: SIGNER_KEY, ...(parameters as object) }),
      /use the base64 signer key of the project, and whole numbers from 1/,
    ]),
    ...[6, 16, 7.5, NaN, '13; x'].map((cost): [string, () => unknown, RegExp] => [
      `phpass with a cost of ${cost}`,
      () => phpassVerifier({ cost: cost as number }),
      /use a whole number from 7 to 15/,
    ]),
    ...[
      { iterations: 5_000_000 },
      { iterations: 0 },
      { iterations: 1.5 },
      { hash: 'md5' },
      { hash: 'SHA256' },
      { hash: '' },
    ].map((cost): [string, () => unknown, RegExp] => [
      `PBKDF2 with ${JSON.stringify(cost)}`,
      () => pbkdf2Verifier(cost),
      /use sha1, sha256 or sha512, and a whole number from 1 to 1500000/,
    ]),
  ];
  it.each(invalid)('cannot be created for %s', (_, make, message) => {
    expect(make).toThrow(AuthConfigError);
    expect(make).toThrow(message);
  });

  const VERIFIERS = [bcryptVerifier({ rounds: 5 }), phpassVerifier({ cost: 7 })];

  // The first is from the test suite of phpass; the others were computed with hashlib, hmac and crypt of Python 3.11.
  it.each([
    ['phpass', 'test12345', '$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0'],
    ['phpass, as phpBB stores it', 'test12345', '$H$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0'],
    ['phpass of Unicode', 'p\u00e4ssw\u00f6rd', '$P$7saltsalteEEDurn8yFxBfoEz6uV9B.'],
    ['WordPress 6.8', 'correct horse battery', '$wp$2y$05$CCCCCCCCCCCCCCCCCCCCC.XHpkyTHybCubvd4T41BLTqk9Tl7RYcS'],
    [
      'Django, bcrypt_sha256',
      'correct horse battery',
      'bcrypt_sha256$$2b$05$CCCCCCCCCCCCCCCCCCCCC.HRvMdZuVaC65y0x0wWwQSUujIIzXrYS',
    ],
    ['Django, bcrypt', 'correct horse battery', 'bcrypt$$2b$05$CCCCCCCCCCCCCCCCCCCCC.4c/Vz//sBM9XkyFmwsCP9HkrjK1U32S'],
  ])('verifies a hash of %s', async (_, password, digest) => {
    const [verifier, ...others] = VERIFIERS.filter((each) => each.recognises(digest));
    expect(others).toEqual([]);
    await expect(verifier!.verify(digest, password)).resolves.toBe(true);
    await expect(verifier!.verify(digest, `${password}x`)).resolves.toBe(false);
    await expect(verifier!.verify(digest, '')).resolves.toBe(false);
  });

  it.each([
    ['$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', ['72-bytes']],
    ['bcrypt$$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', ['72-bytes']],
    ['bcrypt_sha256$$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', []],
    ['$wp$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', ['trim']],
  ])('for bcrypt prepares the password of %s by %j', (digest, preparation) => {
    expect(bcryptVerifier({ rounds: 5 }).preparation!(digest)).toEqual(preparation);
  });

  const steps = ['NFC', 'trim'] as const;
  it.each([
    ['scrypt', scryptVerifier({ ln: 4, preparation: steps }), [...steps]],
    ['PBKDF2', pbkdf2Verifier({ iterations: 1, preparation: steps }), [...steps]],
    ['phpass', phpassVerifier({ cost: 7, preparation: steps }), [...steps]],
    ['bcrypt', bcryptVerifier({ rounds: 4, preparation: steps }), [...steps, '72-bytes']],
    ['scrypt without one', scryptVerifier({ ln: 4 }), []],
  ])('for %s states the preparation of the former system', (_, verifier, preparation) => {
    expect(verifier.preparation!(verifier.decoy)).toEqual(preparation);
  });

  it('is refused with a preparation that the library does not know', () => {
    expect(() => scryptVerifier({ ln: 4, preparation: ['NFKD' as never] })).toThrow(
      'A verifier of hashing.verifiers prepares passwords by "NFKD". Use NFC, NFKC, trim, lowercase, 72-bytes.',
    );
  });

  it('for Firebase verifies the hash in the documentation of firebase/scrypt', async () => {
    const verifier = firebaseScryptVerifier({ signerKey: SIGNER_KEY, saltSeparator: 'Bw==', rounds: 8, memCost: 14 });
    const hash = 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==';
    const digest = `$firebase-scrypt$42xEC+ixf3L2lw==$${hash}`;
    const urlSafe = digest.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    for (const text of [digest, urlSafe]) {
      expect(verifier.recognises(text)).toBe(true);
      await expect(verifier.verify(text, 'user1password')).resolves.toBe(true);
      await expect(verifier.verify(text, 'user1passworD')).resolves.toBe(false);
    }
    expect(verifier.recognises(digest.replace(hash, hash.slice(0, 44)))).toBe(false);
  });

  it('for Firebase does not show the signer key when it is printed', () => {
    const verifier = firebaseScryptVerifier({ signerKey: SIGNER_KEY });
    const bytes = Buffer.from(SIGNER_KEY, 'base64');
    for (const printed of [inspect(verifier, { depth: 9, showHidden: true }), JSON.stringify(verifier)]) {
      for (const form of ['base64', 'hex', 'latin1'] as const) expect(printed).not.toContain(bytes.toString(form));
      expect(printed).not.toContain(`${bytes[0]},${bytes[1]}`);
    }
  });

  it('for native bcrypt accepts up to 14 rounds', () => {
    expect(bcryptVerifier({ rounds: 14 }, native).decoy).toMatch(/^\$2b\$14\$/);
  });
});
