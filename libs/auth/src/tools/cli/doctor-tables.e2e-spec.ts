import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { runInProcess } from '../../../../../test/console/in-process';
import { WorkingDirectory } from '../../../../../test/console/working-directory';
import { type TestDatabase, createDatabase, executed } from '../../../../../test/support/stores/database';
import { SECRET } from '../../../../../test/support/hosts/host.module';
import { runCli } from './commands';
import type { Finding } from './config-checks';

const HOST = join(__dirname, '../../../../../test/support/hosts/host.module.ts');

describe('svc-auth doctor, on the tables', () => {
  let place: WorkingDirectory;
  let database: TestDatabase;

  beforeEach(async () => {
    [place, database] = [new WorkingDirectory(), await createDatabase()];
    place.write(`DATABASE_URL=${database.url}\n`);
  });
  afterEach(async () => {
    place.remove();
    await database.drop();
  });

  const writeModule = (): void =>
    place.write(
      `const { HostModule } = require(${JSON.stringify(HOST)});
       exports.AppModule = HostModule.with(process.env.DATABASE_URL, { cache: undefined });`,
      'app.module.js',
    );

  /** What the doctor finds wrong with the tables. */
  async function problems(file: string): Promise<string[]> {
    const args = ['doctor', '--json', file];
    const { stdout } = await runInProcess(() => runCli(args), args, place);
    const { checks } = JSON.parse(stdout) as { checks: Finding[] };
    return checks
      .filter(
        ({ check, status }) =>
          ['start', 'postgres', 'tables', 'indexes', 'hashes', 'emails'].includes(check) && status !== 'ok',
      )
      .map(({ check, status, message, cure = '' }) => `${status} ${check}: ${message} ${cure}`);
  }

  it('names an index that is missing, and an identifier that is not unique', async () => {
    await executed(
      'DROP INDEX svc_sessions_live; ALTER TABLE people DROP CONSTRAINT people_email_key; CREATE INDEX ON people (lower(email))',
      database.url,
    );
    writeModule();
    expect(await problems('app.module.js')).toEqual([
      expect.stringContaining(
        'error indexes: The index svc_sessions_live of svc_sessions is missing or invalid. CREATE INDEX svc_sessions_live ' +
          'ON "svc_sessions" (guard, user_id, created_at, id) WHERE revoked_at IS NULL;',
      ),
      expect.stringMatching(
        /^warning indexes: people\.email has no index that begins with it: each login reads the whole table, and two users/,
      ),
    ]);
  });

  it('counts the hashes that no verifier accepts, and shows none', async () => {
    const phc = '$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
    const bcrypt = '$2b$04$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
    const hashes = [phc, `NFKC:${phc}`, `argon2${phc}`, bcrypt, 'plain-secret', `NFKD:${phc}`];
    const values = hashes.map((hash, i) => `('${i}@example.com', '${hash}')`).join(', ');
    await executed(`INSERT INTO people (email, password_hash) VALUES ${values}, ('n@example.com', NULL)`, database.url);
    writeModule();
    const [problem, ...others] = await problems('app.module.js');
    expect(others).toEqual([]);
    expect(problem).toMatch(
      /^warning hashes: people\.password_hash has 3 hashes that no verifier accepts.* SELECT left\("password_hash", 7\), count\(\*\) FROM "people" GROUP BY 1;$/,
    );
    expect(problem).not.toMatch(/plain-secret|E5YPO9/);
    await executed(`DELETE FROM people WHERE password_hash !~ 'argon2id' OR password_hash ~ '^NFKD'`, database.url);
    expect(await problems('app.module.js')).toEqual([]);
  });

  it('names an id that is a part of the primary key of the table', async () => {
    const key = 'ALTER TABLE people DROP CONSTRAINT people_pkey, ADD PRIMARY KEY (id, email)';
    await executed(key, database.url);
    writeModule();
    expect(await problems('app.module.js')).toEqual([
      'error indexes: people.id has no unique index of this column alone: two users can have one id, and each is signed in as ' +
        'the other. CREATE UNIQUE INDEX ON "people" ("id");',
    ]);
    await executed('CREATE UNIQUE INDEX ON people (id)', database.url);
    expect(await problems('app.module.js')).toEqual([]);
  });

  it('names emails that only their own spelling finds, with a statement that mends them', async () => {
    const add = (...emails: string[]) =>
      executed(`INSERT INTO people (email) VALUES ${emails.map((email) => `('${email}')`).join()}`, database.url);
    writeModule();
    // A registration stores the first form, and a look-up finds the others.
    await add(
      'ada@xn--mller-kva.example',
      'bob@m\u00fcller.example',
      'eve@mu\u0308ller.example',
      'j\u00fcrgen@example.com',
    );
    expect(await problems('app.module.js')).toEqual([]);
    await add('Carol@Example.com', 'dan@example.com ');
    const [lost, ...others] = await problems('app.module.js');
    expect(others).toEqual([]);
    expect(lost).toMatch(/^warning emails: people\.email has 2 emails with capitals, spaces or a decomposed letter\./);
    // Of two rows with one lower case, none is changed.
    await add('FRANK@example.com', 'frank@example.com');
    await executed(lost!.slice(lost!.indexOf('UPDATE ')), database.url);
    const left = await problems('app.module.js');
    expect(left).toEqual([
      expect.stringContaining('warning emails: people.email has 1 mailbox with several accounts'),
      expect.stringContaining('warning emails: people.email has 1 email with capitals'),
    ]);
    expect(left[0]).toContain(`SELECT "id", "email" FROM "people" WHERE "id" IN ('7', '8');`);
    await executed(`DELETE FROM people WHERE id = 7`, database.url);
    await add('gr\u00c9ta@example.com', 'hu\u0308gu\u0308 @m\u00fcller.example', 'ada@m\u00fcller.example');
    const [shared, decomposed] = await problems('app.module.js');
    expect(shared).toContain(`WHERE "id" IN ('1', '11');`);
    await executed(decomposed!.slice(decomposed!.indexOf('UPDATE ')), database.url);
    expect(await problems('app.module.js')).toEqual([shared]);
  });

  it('names an entity with several primary columns, which refuses the start', async () => {
    const { initialize } = DataSource.prototype;
    jest.spyOn(DataSource.prototype, 'initialize').mockImplementation(async function (this: DataSource) {
      await initialize.call(this);
      const people = this.entityMetadatas.find(({ tableName }) => tableName === 'people');
      if (people) people.primaryColumns = [...people.primaryColumns, people.findColumnWithPropertyName('email')!];
      return this;
    });
    writeModule();
    const args = ['doctor', '--json', 'app.module.js'];
    const { stdout } = await runInProcess(() => runCli(args), args, place);
    const { checks } = JSON.parse(stdout) as { checks: Finding[] };
    expect(checks.filter(({ status }) => status === 'error')).toEqual([
      expect.objectContaining({
        check: 'options',
        message: expect.stringMatching(/^Person has 2 primary columns \(id, email\); one has to identify a user/),
      }),
    ]);
  });

  it.each<[string, string, string, string]>([
    [
      'is unique only in lower case',
      'UNIQUE INDEX ON people (lower(email))',
      '',
      'a unique index of lower(email), but none',
    ],
    ['is unique in lower case', 'UNIQUE INDEX ON people (lower(email)); CREATE INDEX ON people (email)', '', ''],
    [
      'is unique together with another column',
      'UNIQUE INDEX ON people (email, id)',
      '',
      'an index, but no unique index',
    ],
    ['is unique among some rows', 'UNIQUE INDEX ON people (email) WHERE id > 0', '', 'no index of all rows'],
    ['is unique where it is not null', 'UNIQUE INDEX ON people (email) WHERE email IS NOT NULL', '', ''],
    ['is a part of an expression', 'UNIQUE INDEX ON people ((email || id))', '', 'no index that begins with it'],
    ['is the second column', 'INDEX ON people (id, email)', '', 'no index that begins with it'],
    [
      'is unique among the rows that are not deleted',
      'UNIQUE INDEX ON people (email) WHERE gone_at IS NULL AND email IS NOT NULL',
      'gone_at',
      '',
    ],
    ['is unique among others', 'UNIQUE INDEX ON people (email) WHERE gone_at IS NULL', '', 'no index of all rows'],
  ])('reads from the indexes whether the identifier %s: %s', async (_, index, deletedAt, problem) => {
    await executed(
      `ALTER TABLE people DROP CONSTRAINT people_email_key; ALTER TABLE people ADD gone_at timestamptz; CREATE ${index}`,
      database.url,
    );
    // The entities of the tests are those of all suites, so that only its metadata changes.
    const { initialize } = DataSource.prototype;
    jest.spyOn(DataSource.prototype, 'initialize').mockImplementation(async function (this: DataSource) {
      await initialize.call(this);
      const people = this.entityMetadatas.find(({ tableName }) => tableName === 'people');
      if (deletedAt && people) people.deleteDateColumn = { databaseName: deletedAt } as never;
      return this;
    });
    writeModule();
    const found = (await problems('app.module.js')).filter((text) => text.includes('people.email'));
    expect(found).toEqual(problem ? [expect.stringContaining(`people.email has ${problem}`)] : []);
  });

  it('names the rights on the users that the features need', async () => {
    const role = `reader_${Date.now()}`;
    const tables =
      'svc_sessions, svc_lockouts, svc_passkeys, svc_password_resets, svc_email_changes, svc_known_devices, svc_trusted_devices, svc_email_deliveries, svc_identities, svc_access_keys, svc_security_events, svc_suspensions, svc_audit, svc_audit_keys, svc_device_keys';
    await executed(
      `CREATE ROLE ${role} LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables}, operators TO ${role};
       GRANT SELECT ON people TO ${role}`,
      database.url,
    );
    const url = new URL(database.url);
    url.username = role;
    place.write(`DATABASE_URL=${url.href}\n`);
    writeModule();
    const found = await problems('app.module.js');
    await executed(`DROP OWNED BY ${role}; DROP ROLE ${role}`, database.url);
    expect(found).toEqual([
      'error tables: The role of the application may not UPDATE rows of people, which features.changePassword needs. ' +
        'GRANT UPDATE ON "people" TO the role.',
      expect.stringMatching(/may not DELETE rows of people, which features\.accountDeletion needs\. GRANT DELETE/),
    ]);
  });

  it('names the schema in which tables are, if the data source has another one', async () => {
    await executed('CREATE SCHEMA app', database.url);
    place.write(
      `const { AuthModule, UserProvider, authEntities } = require('@svc/auth');
       const { TypeOrmModule } = require(${JSON.stringify(require.resolve('@nestjs/typeorm'))});
       class NoUsers extends UserProvider {}
       const options = ${JSON.stringify({ secret: SECRET, features: { accountDeletion: false } })};
       const source = { type: 'postgres', url: process.env.DATABASE_URL, schema: 'app', entities: [...authEntities] };
       exports.AppModule = { module: class AppModule {}, imports: [
         TypeOrmModule.forRoot(source), AuthModule.forRoot({ ...options, users: { provider: NoUsers } }) ] };`,
      'schema.module.js',
    );
    expect(await problems('schema.module.js')).toEqual([
      expect.stringMatching(
        /^error tables: The table app\.svc_\w+ is missing, but public\.svc_\w+ exists.*\?options=-csearch_path=app to DATABASE_URL, and move the tables: ALTER TABLE "public"\."svc_\w+" SET SCHEMA "app";/,
      ),
    ]);
  });
});
