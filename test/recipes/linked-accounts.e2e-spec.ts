import { Client } from 'pg';
import { blocksOf } from '../docs/blocks';
import { IdentityHost } from '../support/flows/identities';
import { claimsOf } from '../support/hosts/app';
import { member } from '../support/hosts/members';
import { type TestDatabase, createDatabase } from '../support/stores/database';

const blocks = blocksOf('docs/recipes/moving-here.md').filter(({ language }) => language === 'sql');

/** The statement of the page that reads a table of a former system. */
const importFrom = (table: string): string =>
  blocks.find(({ text }) => text.includes(`FROM ${table} JOIN providers`))!.text;

const PROVIDERS = blocks.find(({ text }) => text.includes('CREATE TEMPORARY TABLE providers'))!.text;

const ADA = '00000000-0000-4000-8000-000000000001';
const BOB = '00000000-0000-4000-8000-000000000002';
const GOOGLE = 'https://accounts.google.com';
const GITHUB = 'https://github.com';

/** The table as the migrations of better-auth create it; with Drizzle, the columns have other names. */
const BETTER_AUTH = `CREATE TABLE account (id text PRIMARY KEY, "accountId" text NOT NULL, "providerId" text NOT NULL,
  "userId" text NOT NULL, "accessToken" text, "refreshToken" text, "idToken" text, "accessTokenExpiresAt" timestamptz,
  "refreshTokenExpiresAt" timestamptz, scope text, password text, "createdAt" timestamptz NOT NULL, "updatedAt" timestamptz NOT NULL);
  INSERT INTO account (id, "accountId", "providerId", "userId", "accessToken", "createdAt", "updatedAt") VALUES
    ('1', 'google-ada', 'google', '${ADA}', 'ya29.secret', '2024-02-29T10:00:00Z', now()),
    ('2', '583231', 'github', '${ADA}', 'gho_secret', '2024-03-01T10:00:00Z', now()),
    ('3', '${BOB}', 'credential', '${BOB}', null, '2024-03-01T10:00:00Z', now()),
    ('4', 'discord-bob', 'discord', '${BOB}', null, '2024-03-01T10:00:00Z', now())`;

const IN_SNAKE_CASE = {
  accountId: 'account_id',
  providerId: 'provider_id',
  userId: 'user_id',
  createdAt: 'created_at',
};

/** With the names that the schema of Drizzle has. */
const withDrizzle = (sql: string): string =>
  Object.entries(IN_SNAKE_CASE).reduce((text, [from, to]) => text.replaceAll(`"${from}"`, to), sql);

/** The columns that all adapters of Auth.js have. */
const authJs = (table: string, userId: string, key: string): string =>
  `CREATE TABLE ${table} (${key === 'id' ? 'id uuid PRIMARY KEY DEFAULT gen_random_uuid(),' : ''} "userId" ${userId} NOT NULL,
    type text NOT NULL, provider text NOT NULL, "providerAccountId" text NOT NULL, refresh_token text, access_token text,
    expires_at bigint, token_type text, scope text, id_token text, session_state text
    ${key === 'id' ? '' : `, PRIMARY KEY (${key})`});
   INSERT INTO ${table} ("userId", type, provider, "providerAccountId", access_token) VALUES
    ('${ADA}', 'oidc', 'google', 'google-ada', 'ya29.secret'), ('${ADA}', 'oauth', 'github', '583231', 'gho_secret'),
    ('${BOB}', 'email', 'google', 'bob@example.com', null), ('${BOB}', 'credentials', 'github', '${BOB}', null)`;

const IDENTITIES_OF_ADA = [
  { guard: 'api', user_id: ADA, provider: 'github', issuer: GITHUB, subject: '583231', email: null },
  { guard: 'api', user_id: ADA, provider: 'google', issuer: GOOGLE, subject: 'google-ada', email: null },
];

describe('the import of linked accounts, as in its recipe', () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  beforeEach(async () => {
    await client.query('BEGIN');
    await client.query(PROVIDERS);
  });
  afterEach(() => client.query('ROLLBACK'));
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const stored = async () =>
    (
      await client.query(
        'SELECT guard, user_id, provider, issuer, subject, email FROM svc_identities ORDER BY provider, subject',
      )
    ).rows;

  it.each<[string, string, string]>([
    ['better-auth', BETTER_AUTH, importFrom('account')],
    ['better-auth with Drizzle', withDrizzle(BETTER_AUTH), withDrizzle(importFrom('account'))],
    ['Auth.js with TypeORM', authJs('accounts', 'uuid', 'id'), importFrom('accounts')],
    [
      'Auth.js with Prisma',
      authJs('"Account"', 'text', 'provider, "providerAccountId"'),
      importFrom('accounts').replace('FROM accounts', 'FROM "Account"'),
    ],
    [
      'Auth.js with Drizzle',
      authJs('account', 'text', 'provider, "providerAccountId"'),
      importFrom('accounts').replace('FROM accounts', 'FROM account'),
    ],
  ])(
    'takes the accounts at the listed providers, without passwords and tokens, and can be repeated: %s',
    async (_, former, sql) => {
      await client.query(former);
      await client.query(sql);
      expect(await stored()).toEqual(IDENTITIES_OF_ADA);
      await client.query(sql);
      expect(await stored()).toEqual(IDENTITIES_OF_ADA);
      const { rows } = await client.query('SELECT svc_identities::text AS row FROM svc_identities');
      expect(JSON.stringify(rows)).not.toMatch(/ya29|gho_/);
    },
  );

  it('keeps the time of the link where the former system has it', async () => {
    await client.query(BETTER_AUTH);
    await client.query(importFrom('account'));
    const { rows } = await client.query('SELECT linked_at FROM svc_identities ORDER BY linked_at');
    expect(rows.map(({ linked_at }) => linked_at.toISOString())).toEqual([
      '2024-02-29T10:00:00.000Z',
      '2024-03-01T10:00:00.000Z',
    ]);
  });

  it('takes the table of the tutorials of Passport, with an issuer or a name as the provider', async () => {
    await client.query(`CREATE TABLE federated_credentials (user_id integer NOT NULL, provider text NOT NULL, subject text NOT NULL,
      PRIMARY KEY (provider, subject))`);
    await client.query(`INSERT INTO federated_credentials VALUES (7, '${GOOGLE}', 'google-ada'), (7, 'github', '583231'),
      (8, 'https://example.com', 'bob')`);
    await client.query(importFrom('federated_credentials'));
    expect(await stored()).toEqual(IDENTITIES_OF_ADA.map((identity) => ({ ...identity, user_id: '7' })));
  });

  it('takes a column of the users', async () => {
    await client.query(`CREATE TABLE users (id integer PRIMARY KEY, name text, google_id text)`);
    await client.query(`INSERT INTO users VALUES (7, 'Ada', 'google-ada'), (8, 'Bob', null), (9, 'Eve', '')`);
    await client.query(importFrom('users'));
    expect(await stored()).toEqual([{ ...IDENTITIES_OF_ADA[1], user_id: '7' }]);
  });

  it('gives an account at a provider to one user, and changes no identity that is linked', async () => {
    await client.query(BETTER_AUTH);
    await client.query(
      `INSERT INTO svc_identities (id, guard, user_id, provider, issuer, subject, linked_at)
       VALUES (gen_random_uuid(), 'api', '${BOB}', 'google', '${GOOGLE}', 'google-ada', now())`,
    );
    await client.query(importFrom('account'));
    expect(await stored()).toEqual([IDENTITIES_OF_ADA[0], { ...IDENTITIES_OF_ADA[1], user_id: BOB }]);
  });
});

describe('a user with an imported account', () => {
  const host = IdentityHost.forFile();

  it('signs in at the provider, whatever email it states', async () => {
    const userId = await member(host.t, 'ada@example.com');
    const former = new Client({ connectionString: host.t.databaseUrl });
    await former.connect();
    await former.query(PROVIDERS);
    await former.query('INSERT INTO providers VALUES ($1, $1, $2)', ['acme', host.acme.issuer]);
    await former.query('CREATE TEMPORARY TABLE federated_credentials (user_id text, provider text, subject text)');
    await former.query('INSERT INTO federated_credentials VALUES ($1, $2, $3)', [userId, 'acme', 'ada-1']);
    await former.query(importFrom('federated_credentials'));
    await former.end();
    const { body } = await host.signIn({ sub: 'ada-1', email: 'lovelace@example.org' });
    expect(claimsOf(body.access_token)).toMatchObject({ sub: userId, amr: ['fed'] });
  });
});
