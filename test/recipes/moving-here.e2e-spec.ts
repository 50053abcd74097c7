import {
  Auth,
  PasswordHasher,
  type PasswordVerifier,
  bcryptVerifier,
  firebaseScryptVerifier,
  pbkdf2Verifier,
  scryptVerifier,
} from '@svc/auth';
import { hashSync } from 'bcryptjs';
import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { DataSource } from 'typeorm';
import { modulesOf } from '../docs/page-modules';
import { TestApp } from '../support/hosts/app';
import { createEmptyDatabase } from '../support/stores/database';
import { HostModule } from '../support/hosts/host.module';
import { codeOf, completeChallenge } from '../support/flows/two-factor';
import { Member } from '../support/hosts/user-entities';

const modules = modulesOf('docs/recipes/moving-here.md', { './users.js': { User: Member } });
const { importUsers } = modules['src/import-users.ts'];
const { formerPages } = modules['src/former-pages.ts'];
const { runImport } = modules['src/import.ts'];
const { seed, SEED } = modules['src/seed.ts'];
const verifiersOfPage: {
  devise: (pepper: string, rounds: number) => PasswordVerifier;
  betterAuth: () => PasswordVerifier;
  wordpress: (cost: number, rounds: number) => PasswordVerifier[];
} = modules['src/verifiers.ts'];
const former = modules['src/former-hashes.ts'];

const SIGNER_KEY = 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==';
const CHEAP = { memoryCost: 64, timeCost: 1 };
const options = (verifiers: PasswordVerifier[]) => ({
  users: { entity: Member },
  features: { twoFactor: true },
  hashing: { ...CHEAP, verifiers },
});

interface Row {
  id: string;
  email: string;
  password: string | null;
  secret: string | null;
}

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const passwordOf = (n: number): string => `former-password-${n}`;
const secretOf = (n: number): string => `GEZDGNBVGY3TQO${'ABCDEFGHIJ'[n % 10]}Q`;

/** Every third user has a second factor. */
const usual = (n: number): Row => ({
  id: idOf(n),
  email: `User${n}@Example.com`,
  password: hashSync(passwordOf(n), 4),
  secret: n % 3 === 0 ? secretOf(n) : null,
});

describe('the import of users, as in its recipe', () => {
  const t = TestApp.forFile({ options: options([bcryptVerifier({ rounds: 4 })]) });
  let source: DataSource;
  let dropSource: () => Promise<void>;

  beforeAll(async () => {
    const database = await createEmptyDatabase();
    dropSource = database.drop;
    source = await new DataSource({ type: 'postgres', url: database.url, installExtensions: false }).initialize();
    await source.query(
      'CREATE TABLE former_users (id uuid PRIMARY KEY, email text, password text, secret text, verified_at timestamptz)',
    );
  });
  beforeEach(async () => {
    await source.query('DELETE FROM former_users');
    for (let n = 1; n <= 7; n++) await store(usual(n));
  });
  afterAll(async () => {
    await source.destroy();
    await dropSource();
  });

  const store = ({ id, email, password, secret }: Row) =>
    source.query('INSERT INTO former_users VALUES ($1, $2, $3, $4, now())', [id, email, password, secret]);
  const load = (pages: unknown = formerPages(source, '', 2)) => importUsers(t.app, pages);
  const rows = () => t.database.query('SELECT * FROM members ORDER BY id');
  const signIn = (n: number) => t.login(`user${n}@example.com`, passwordOf(n));

  const expectAllToSignIn = async (): Promise<void> => {
    for (let n = 1; n <= 7; n++) {
      const { body } = await signIn(n).expect(200);
      const { challenge_token, methods } = body;
      expect(methods).toEqual(n % 3 === 0 ? ['totp'] : undefined);
      if (methods) await completeChallenge(t, { challenge_token, code: codeOf(t, secretOf(n)) }).expect(200);
    }
  };

  it('imports each page, and the users sign in with their passwords and authenticator apps', async () => {
    expect(await load()).toEqual([]);
    expect(await rows()).toHaveLength(7);
    await expectAllToSignIn();
  });

  it('can be repeated, and changes no user that is complete', async () => {
    await load();
    await t.auth.twoFactor.disable(idOf(3));
    await t.database.query(`UPDATE members SET password_hash = $1, name = 'Ada' WHERE id = $2`, [
      await t.app.get(PasswordHasher).hash('a-newer-password'),
      idOf(1),
    ]);
    const before = await rows();
    await store(usual(8));
    expect(await load()).toEqual([]);
    expect(await rows()).toEqual([...before, expect.objectContaining({ email: 'user8@example.com' })]);
    await t.login('user1@example.com', 'a-newer-password').expect(200);
    expect((await signIn(3).expect(200)).body.access_token).toEqual(expect.any(String));
  });

  it('continues after an interruption, from the start or from an id', async () => {
    async function* interrupted() {
      for await (const page of formerPages(source, '', 2)) {
        if (page[0].id === idOf(5)) throw new Error('connection lost');
        yield page;
      }
    }
    await expect(load(interrupted())).rejects.toThrow('connection lost');
    expect(await rows()).toHaveLength(4);
    await load(formerPages(source, idOf(6), 2));
    expect(await rows()).toHaveLength(5);
    await load();
    await expectAllToSignIn();
  });

  it('gives no user a password before the second factor, also when it ends in between', async () => {
    const { twoFactor } = t.app.get(Auth);
    const importFactor = twoFactor.importFactor.bind(twoFactor);
    const statuses: number[] = [];
    const spy = jest.spyOn(twoFactor, 'importFactor').mockImplementation(async (userId, factor) => {
      statuses.push((await signIn(userId === idOf(3) ? 3 : 6)).status);
      if (userId === idOf(6)) throw new Error('interrupted');
      return importFactor(userId, factor);
    });
    await expect(load()).rejects.toThrow('interrupted');
    expect(statuses).toEqual([422, 422]);
    await signIn(6).expect(422);
    spy.mockRestore();
    await load();
    await expectAllToSignIn();
  });

  it('leaves out an unusable factor with the password of its user, and imports all other users', async () => {
    await source.query(`UPDATE former_users SET secret = 'GEZDGNBVGY3TQ' WHERE id = $1`, [idOf(3)]);
    const reason = 'The secret must be base32 of 10 to 64 bytes, for SHA-1, six digits and 30 seconds.';
    expect(await load()).toEqual([{ id: idOf(3), reason }]);
    await signIn(3).expect(422);
    for (const n of [1, 2, 4, 5, 6, 7]) await signIn(n).expect(200);
    // After a correction, it is imported by the next run.
    await source.query('UPDATE former_users SET secret = $1 WHERE id = $2', [secretOf(3), idOf(3)]);
    expect(await load()).toEqual([]);
    await expectAllToSignIn();
  });

  it('leaves out users whose id or email belongs to another user, and changes that user in no way', async () => {
    const repository = t.database.getRepository(Member);
    await repository.save({ id: idOf(3), email: 'other@example.com', name: 'Other' });
    await repository.save({ id: idOf(99), email: 'user6@example.com', name: 'Other' });
    const before = await repository.findBy({ name: 'Other' });
    const reason = 'The id or the email belongs to another user.';
    expect(await load()).toEqual([
      { id: idOf(3), reason },
      { id: idOf(6), reason },
    ]);
    expect(await repository.findBy({ name: 'Other' })).toEqual(before);
    for (const id of [idOf(3), idOf(99)]) expect(await t.auth.twoFactor.isEnabled(id)).toBe(false);
  });

  it('runs in an application without requests, prints what it left out, and closes the application', async () => {
    await source.query(`UPDATE former_users SET secret = '1' WHERE id = $1`, [idOf(6)]);
    const printed = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    const host = HostModule.with(t.databaseUrl, options([bcryptVerifier({ rounds: 4 })]));
    await runImport(host, source);
    expect(printed.mock.calls).toEqual([[expect.stringContaining(`${idOf(6)}: The secret must be base32`)]]);
    await signIn(3).expect(200);
  });
});

describe('users for development, as in the recipe', () => {
  const t = TestApp.forFile({ options: options([]) });

  it('sign in with a known password and a known secret, also after a second run', async () => {
    for (let run = 0; run < 2; run++) await seed(t.app);
    expect((await t.login('ada@example.com', SEED.password).expect(200)).body.access_token).toEqual(expect.any(String));
    const { body } = await t.login('bob@example.com', SEED.password).expect(200);
    expect(body.methods).toEqual(['totp']);
    const code = codeOf(t, SEED.totpSecret);
    await completeChallenge(t, { challenge_token: body.challenge_token, code }).expect(200);
  });

  it('are not created in production', async () => {
    const replaced = jest.replaceProperty(process.env, 'NODE_ENV', 'production');
    await expect(seed(t.app)).rejects.toThrow('These passwords are public.');
    replaced.restore();
    expect(await t.database.query('SELECT 1 FROM members')).toEqual([]);
  });
});

describe('a converted hash, as in the recipe', () => {
  const cheap = [verifiersOfPage.devise('pepper', 4), pbkdf2Verifier({ hash: 'sha512', iterations: 1000 })];
  const [phpass, bcrypt] = verifiersOfPage.wordpress(7, 4);
  const costly = [verifiersOfPage.betterAuth(), firebaseScryptVerifier({ signerKey: SIGNER_KEY })];
  // A failed login does the work of every verifier.
  const onCheap = TestApp.forFile({ options: options(cheap) });
  const onCostly = TestApp.forFile({ options: options(costly) });
  const onWordPress = TestApp.forFile({ options: options([phpass!, bcrypt!]) });

  const HEX_SALT = '000102030405060708090a0b0c0d0e0f';
  const betterAuthHash = (password: string): string =>
    `${HEX_SALT}:${scryptSync(password.normalize('NFKC'), HEX_SALT, 64, { N: 16384, r: 16, p: 1, maxmem: 2 ** 27 }).toString('hex')}`;

  /** A credential of a realm export. */
  const keycloakPbkdf2 = (hash: string, length: number) => (password: string) => ({
    secretData: JSON.stringify({
      value: pbkdf2Sync(password, Buffer.from(HEX_SALT, 'hex'), 1000, length, hash).toString('base64'),
      salt: Buffer.from(HEX_SALT, 'hex').toString('base64'),
      additionalParameters: {},
    }),
    credentialData: JSON.stringify({ hashIterations: 1000, algorithm: `pbkdf2-${hash}`, additionalParameters: {} }),
  });

  const keycloakArgon2 = async (password: string) => {
    const [, , , , salt, value] = (await onCheap.app.get(PasswordHasher).hash(password)).split('$');
    const additionalParameters = {
      hashLength: ['32'],
      memory: ['64'],
      type: ['id'],
      version: ['1.3'],
      parallelism: ['1'],
    };
    return {
      secretData: JSON.stringify({ value: `${value}=`, salt: `${salt}==`, additionalParameters: {} }),
      credentialData: JSON.stringify({ hashIterations: 1, algorithm: 'argon2', additionalParameters }),
    };
  };

  const FIREBASE = {
    localId: 'x',
    salt: '42xEC+ixf3L2lw==',
    passwordHash: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
  };
  const COMPOSED = 'p\u00e4ssw\u00f6rd \ufb01ve'; // Its NFKC form differs: the ligature becomes two letters.

  it.each<[string, string, () => Promise<string> | string]>([
    ['better-auth', 'former-password', () => former.fromBetterAuth(betterAuthHash('former-password'))],
    ['better-auth with other letters', COMPOSED, () => former.fromBetterAuth(betterAuthHash(COMPOSED))],
    ['Devise with a pepper', 'former-password', () => hashSync('former-passwordpepper', 4)],
    ['Firebase', 'user1password', () => former.fromFirebase(FIREBASE)],
    [
      'Supabase that came from Firebase',
      'user1password',
      () =>
        former.fromSupabaseFirebase(
          `$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=${SIGNER_KEY}$${FIREBASE.salt}$${FIREBASE.passwordHash}`,
        ),
    ],
    ['Keycloak, SHA-256', 'pw-1', () => former.fromKeycloak(keycloakPbkdf2('sha256', 32)('pw-1'))],
    ['Keycloak, SHA-256 with two blocks', 'pw-2', () => former.fromKeycloak(keycloakPbkdf2('sha256', 64)('pw-2'))],
    ['Keycloak, SHA-512', 'pw-3', () => former.fromKeycloak(keycloakPbkdf2('sha512', 64)('pw-3'))],
    ['Keycloak, argon2id', 'pw-4', async () => former.fromKeycloak(await keycloakArgon2('pw-4'))],
  ])('of %s opens a session, and only with its password', async (_, password, hash) => {
    const passwordHash = await hash();
    const recognising = [...cheap, ...costly].filter((verifier) => verifier.recognises(passwordHash));
    expect(recognising).toHaveLength(passwordHash.startsWith('$argon2id$') ? 0 : 1);
    const t = costly.includes(recognising[0]!) ? onCostly : onCheap;
    await t.database.getRepository(Member).save({ email: 'ada@example.com', name: 'Ada', passwordHash });
    await t.login('ada@example.com', `${password}x`).expect(422);
    await t.login('ada@example.com', password).expect(200);
    await t.login('ada@example.com', password).expect(200);
    const [{ password_hash: renewed }] = await t.database.query('SELECT password_hash FROM members');
    expect(renewed).toMatch(/^([\w,-]+:)?\$argon2id\$/);
  });

  const LONG = 'x'.repeat(72);
  const [WP, PHPASS] = [
    '$wp$2y$05$CCCCCCCCCCCCCCCCCCCCC.XHpkyTHybCubvd4T41BLTqk9Tl7RYcS',
    '$P$7saltsalteEEDurn8yFxBfoEz6uV9B.',
  ];

  it.each<[string, TestApp, string, string, string[], string]>([
    [
      'better-auth',
      onCostly,
      former.fromBetterAuth(betterAuthHash(COMPOSED)),
      'NFKC',
      [COMPOSED, COMPOSED.normalize('NFD'), COMPOSED.normalize('NFKD')],
      COMPOSED.replace('\u00e4', 'a'),
    ],
    [
      'Devise with a pepper',
      onCheap,
      hashSync(`${LONG}pepper`, 4),
      '72-bytes',
      [`${LONG} and more`, LONG, `${LONG} or less`],
      LONG.slice(1),
    ],
    [
      'WordPress',
      onWordPress,
      PHPASS,
      'trim',
      ['p\u00e4ssw\u00f6rd', ' p\u00e4ssw\u00f6rd', 'p\u00e4ssw\u00f6rd\n'],
      'p\u00e4ss w\u00f6rd',
    ],
    [
      'WordPress 6.8',
      onWordPress,
      WP,
      'trim',
      ['correct horse battery ', 'correct horse battery', '\tcorrect horse battery'],
      'correct horse  battery',
    ],
  ])(
    'of %s accepts every spelling that was accepted, before and after the login that replaces it',
    async (_, t, passwordHash, preparation, spellings, wrong) => {
      const email = 'ada@example.com';
      for (const first of spellings) {
        await t.database.getRepository(Member).delete({ email });
        await t.database.getRepository(Member).save({ email, name: 'Ada', passwordHash });
        for (const spelling of [first, ...spellings]) await t.login(email, spelling).expect(200);
        await t.login(email, wrong).expect(422);
        const [{ password_hash: renewed }] = await t.database.query('SELECT password_hash FROM members');
        expect(renewed.split('$argon2id$')[0]).toBe(`${preparation}:`);
      }
    },
  );

  it('of better-auth is a hash that scryptVerifier accepts', async () => {
    const verifier = scryptVerifier({ ln: 14, r: 16 });
    const digest = former.fromBetterAuth(betterAuthHash('former-password'));
    expect(verifier.recognises(digest)).toBe(true);
    await expect(verifier.verify(digest, 'former-password')).resolves.toBe(true);
  });
});
