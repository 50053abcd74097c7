import {
  PasswordHasher,
  PasswordVerifier,
  bcryptVerifier,
  firebaseScryptVerifier,
  pbkdf2Verifier,
  phpassVerifier,
  scryptVerifier,
} from '@svc/auth';
import { createCipheriv, pbkdf2Sync, scryptSync } from 'node:crypto';
import { TestApp } from '../support/hosts/app';
import { ADA, confirmPassword } from '../support/flows/step-up';
import { requestStatements } from '../support/stores/request-statements';
import { PASSWORD } from '../support/hosts/user-entities';

const b64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const SALT = Buffer.from('0123456789abcdef');

const signerKey = 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==';

/** Cheap, because every login pays for it. A unit test verifies the hash in the documentation, with the cost of Firebase. */
const FIREBASE = { signerKey, memCost: 8 };

/** The signer key, encrypted with a key that scrypt derives from the password. The separator is the default. */
function firebaseKey(password: string): string {
  const salt = Buffer.concat([SALT, Buffer.from('Bw==', 'base64')]);
  const key = scryptSync(password, salt, 32, { N: 2 ** FIREBASE.memCost, r: 8, p: 1 });
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return cipher.update(Buffer.from(signerKey, 'base64')).toString('base64');
}

// The sources: the test suites of crypt_blowfish, phpass and ASP.NET Core Identity, the documentation of passlib. The hash of
// WordPress was computed with hmac and crypt of Python 3.11.
const KNOWN: [string, string, string][] = [
  ['bcrypt 2a', 'U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['bcrypt 2y', 'U*U', '$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  [
    'PBKDF2 of passlib',
    'toomanysecrets',
    '$pbkdf2-sha256$29000$N2YMIWQsBWBMae09x1jrPQ$1t8iyB2A.WF/Z5JZv.lfCIhXXN33N23OSgQYThBYRfk',
  ],
  [
    'PBKDF2 of Django',
    PASSWORD,
    `pbkdf2_sha256$1200$seasoning$${pbkdf2Sync(PASSWORD, 'seasoning', 1200, 32, 'sha256').toString('base64')}`,
  ],
  ['PBKDF2 of ASP.NET Core', 'my password', 'AQAAAAIAAAAyAAAAEOMwvh3+FZxqkdMBz2ekgGhwQ4B6pZWND6zgESBuWiHw'],
  ['phpass', 'test12345', '$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0'],
  ['WordPress 6.8', 'correct horse battery', '$wp$2y$05$CCCCCCCCCCCCCCCCCCCCC.XHpkyTHybCubvd4T41BLTqk9Tl7RYcS'],
  ['Firebase', PASSWORD, `$firebase-scrypt$${SALT.toString('base64')}$${firebaseKey(PASSWORD)}`],
  [
    'scrypt',
    PASSWORD,
    `$scrypt$ln=10,r=8,p=1$${b64(SALT)}$${b64(scryptSync(PASSWORD, SALT, 32, { N: 1024, r: 8, p: 1 }))}`,
  ],
];

/** A verifier of a host. */
class Reversed extends PasswordVerifier {
  decoy = 'reversed:';
  constructor(private readonly known: RegExp) {
    super();
  }
  recognises = (digest: string): boolean => this.known.test(digest);
  verify = async (digest: string, password: string): Promise<boolean> =>
    digest.slice('reversed:'.length) === [...password].toReversed().join('');
}

const verifiers = [
  bcryptVerifier({ rounds: 5 }),
  scryptVerifier({ ln: 10 }),
  pbkdf2Verifier({ iterations: 1200 }),
  phpassVerifier({ cost: 7 }),
  firebaseScryptVerifier(FIREBASE),
  new Reversed(/^reversed:/),
];

describe('an account with the password hash of another system', () => {
  const t = TestApp.forFile({
    options: { hashing: { memoryCost: 64, timeCost: 1, concurrency: 2, maxQueue: 1000, verifiers } },
  });

  beforeEach(async () => {
    await t.person(ADA);
    await t.person('native@example.com');
  });

  it('is renewed and changed without a statement on reset links while resets are off', async () => {
    await t.database.query('UPDATE people SET password_hash = $1 WHERE email = $2', [KNOWN.at(-1)![2], ADA]);
    const statements = requestStatements(t);
    const { access_token: token } = await t.session();
    const [{ password_hash }] = await t.database.query('SELECT password_hash FROM people WHERE email = $1', [ADA]);
    expect(password_hash).toMatch(/^\$argon2id\$/);
    const next = 'another horse entirely';
    const body = { current_password: PASSWORD, password: next, password_confirmation: next };
    await t.call('post', '/auth/password', token).send(body).expect(200);
    expect(statements.mock.calls.filter(([text]) => text.includes('svc_password_resets'))).toEqual([]);
    expect(statements).toHaveBeenCalled();
  });

  const stored = async (): Promise<string> =>
    (await t.database.query('SELECT password_hash FROM people WHERE id = 1'))[0].password_hash;
  const store = (digest: string) => t.database.query('UPDATE people SET password_hash = $1 WHERE id = 1', [digest]);

  it.each(KNOWN)('of %s signs in, and its hash is replaced by an argon2id hash', async (_, password, digest) => {
    await store(digest);
    await t.login(ADA, `${password}x`).expect(422);
    await t.login(ADA, '').expect(422);
    expect(await stored()).toBe(digest);
    await t.login(ADA, password).expect(200);
    expect(await stored()).toMatch(/^([\w,-]+:)?\$argon2id\$/);
    await t.login(ADA, password).expect(200);
    await t.login(ADA, `${password}x`).expect(422);
  });

  it.each(KNOWN)('of %s can confirm the password before the first login', async (_, password, digest) => {
    await store(digest);
    const { accessToken } = await t.auth.startSession(1);
    await confirmPassword(t, accessToken, { password: `${password}x` }).expect(422);
    await confirmPassword(t, accessToken, { password }).expect(200);
  });

  it('of bcrypt compares 72 bytes until the user sets another password, and then all bytes', async () => {
    const { hash } = await import('bcryptjs');
    await store(await hash('x'.repeat(80), 5));
    for (const accepted of [80, 72, 80, 200]) {
      await t.login(ADA, 'x'.repeat(71)).expect(422);
      await t.login(ADA, 'x'.repeat(accepted)).expect(200);
    }
    expect(await stored()).toMatch(/^72-bytes:\$argon2id\$/);
    const { access_token: token } = (await t.login(ADA, 'x'.repeat(72)).expect(200)).body;
    const next = 'another horse entirely '.repeat(4);
    const body = { current_password: 'x'.repeat(90), password: next, password_confirmation: next };
    await t.call('post', '/auth/password', token).send(body).expect(200);
    expect(await stored()).toMatch(/^\$argon2id\$/);
    await t.login(ADA, next).expect(200);
    await t.login(ADA, next.slice(0, 80)).expect(422);
  });

  it.each(['argon2', ''])(
    'of argon2i with the prefix %j of Django needs no verifier, and is replaced',
    async (prefix) => {
      await store(`${prefix}$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8`);
      await t.login(ADA, 'passwore').expect(422);
      await t.login(ADA, 'password').expect(200);
      expect(await stored()).toMatch(/^\$argon2id\$/);
      await t.login(ADA, 'password').expect(200);
    },
  );

  it('does not sign in with the part of the password before a NUL', async () => {
    for (const [, password, digest] of KNOWN) {
      await store(digest);
      await t.login(ADA, `${password}\0`).expect(422);
      await t.login(ADA, `${password}\0more`).expect(422);
    }
  });

  it.each([
    '$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
    `$scrypt$ln=30,r=8,p=1$${b64(SALT)}$${'A'.repeat(43)}`,
    `pbkdf2_sha256$99999999$seasoning$${'A'.repeat(43)}=`,
    // ASP.NET Core with 4,294,967,295 iterations.
    `AQAAAAL/////${'AAAAEOMwvh3+FZxqkdMBz2ekgGhwQ4B6pZWND6zgESBuWiHw'}`,
    '$firebase-scrypt$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6',
    `$firebase-scrypt$$${'A'.repeat(86)}==`,
    `$firebase-scrypt$42xEC+ixf3L2lw==$${'A'.repeat(1_000_000)}`,
    'plain text',
  ])('cannot overload the server: %s does not match', async (digest) => {
    await store(digest);
    const spies = verifiers.map((verifier) => jest.spyOn(verifier, 'verify'));
    await t.login(ADA, PASSWORD).expect(422);
    // Each verifier computes its decoy only: the cost of the stored digest is not paid.
    expect(spies.map(({ mock }) => mock.calls)).toEqual(verifiers.map(({ decoy }) => [[decoy, PASSWORD]]));
    expect(await stored()).toBe(digest);
  });

  it('costs one hash of every kind, for every user and every stored hash', async () => {
    const hasher = t.app.get(PasswordHasher) as unknown as { library: { verify: () => Promise<boolean> } };
    const spies = [
      jest.spyOn(hasher.library, 'verify'),
      ...verifiers.map((verifier) => jest.spyOn(verifier, 'verify')),
    ];
    const costs = async (email: string): Promise<number[]> => {
      for (const spy of spies) spy.mockClear();
      await t.login(email, 'wrong').expect(422);
      return spies.map((spy) => spy.mock.calls.length);
    };
    const own = await t.app.get(PasswordHasher).hash(PASSWORD);
    const others = [`NFKC:${own}`, `NFC,trim,72-bytes:${own}`, `NFKD:${own}`, 'plain text'];
    for (const digest of [...KNOWN.map(([, , known]) => known), ...others]) {
      await store(digest);
      expect(await costs(ADA)).toEqual(spies.map(() => 1));
    }
    for (const email of ['native@example.com', 'nobody@example.com', ''])
      expect(await costs(email)).toEqual(spies.map(() => 1));
  });

  it('signs in if a verifier of the host knows its hash', async () => {
    await store('reversed:terces');
    await t.login(ADA, 'wrong').expect(422);
    await t.login(ADA, 'secret').expect(200);
  });

  it('shares the configured concurrency with hashes of every kind: no more are computed at once', async () => {
    let [running, most] = [0, 0];
    const counted = <T extends object>(of: T): void => {
      const { verify } = of as { verify: (...args: unknown[]) => Promise<boolean> };
      jest.spyOn(of as { verify: typeof verify }, 'verify').mockImplementation(async (...args) => {
        most = Math.max(most, ++running);
        // Long enough for all other logins to arrive.
        await new Promise((resolve) => setTimeout(resolve, 5));
        return verify.apply(of, args).finally(() => running--);
      });
    };
    counted((t.app.get(PasswordHasher) as unknown as { library: object }).library);
    verifiers.forEach(counted);
    await Promise.all(Array.from({ length: 20 }, (_, i) => t.login(i % 2 ? ADA : 'nobody@example.com', 'wrong')));
    expect(most).toBe(2);
  });

  it('cannot sign in where its kind of hash is not accepted', async () => {
    const strict = await TestApp.start();
    await strict.person(ADA);
    for (const [, password, digest] of KNOWN) {
      await strict.database.query('UPDATE people SET password_hash = $1 WHERE id = 1', [digest]);
      await strict.login(ADA, password).expect(422);
    }
    await strict.stop();
  });
});

describe('a verifier of the host', () => {
  it('is refused at boot when it does not recognise its own decoy', async () => {
    const options = { hashing: { verifiers: [bcryptVerifier({ rounds: 4 }), new Reversed(/^reversed:.+/)] } };
    await expect(TestApp.start({ options })).rejects.toThrow(
      /^hashing\.verifiers\[1\] does not recognise its own decoy/,
    );
  });
});

describe('bcryptVerifier', () => {
  it('uses bcrypt if it is installed, else bcryptjs, else names the package to install', () => {
    const library = { compare: async () => true };
    for (const installed of ['bcrypt', 'bcryptjs']) {
      expect(bcryptVerifier({}, ((name: string) => (name === installed ? library : undefined)) as never)).toBeDefined();
    }
    expect(() => bcryptVerifier({}, (() => undefined) as never)).toThrow(/npm install bcryptjs/);
  });
});
