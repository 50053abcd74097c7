import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { authMigrations, migrateAuth } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { AuthConsoleModule } from '@svc/auth/console';
import { CommandFactory } from 'nest-commander';
import { Client, Pool } from 'pg';
import type { TestApp } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { createEmptyDatabase } from '../support/stores/database';
import { SECRET } from '../support/hosts/host.module';
import { PoolHost } from '../support/hosts/pool-host';
import { API_URL, linkIn, member, membersForFile } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { runInProcess } from './in-process';
import { WorkingDirectory } from './working-directory';

describe('the commands that act on data', () => {
  const place = new WorkingDirectory();
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let client: Client;
  let ada: string;
  let settings: string;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    settings = `DATABASE_URL=${database.url}\nSVC_SECRET=${SECRET}\nREDIS_URL=\n`;
    place.write(settings);
    expect((await place.run('svc:prune')).status).toBe(0);
    client = new Client({ connectionString: database.url });
    await client.connect();
    ada = randomUUID();
    await client.query('INSERT INTO users (id, email, name) VALUES ($1, $2, $3)', [ada, 'ada@example.com', 'Ada']);
    await client.query('INSERT INTO admins (id, email) VALUES ($1, $2)', [randomUUID(), 'ada@example.com']);
  });
  beforeEach(() => client.query('TRUNCATE svc_lockouts'));
  afterAll(async () => {
    await client.end();
    await database.drop();
    place.remove();
  });

  let n = 0;
  const lock = (purpose: string, subject: string, guard = 'api', age = '0 days', locked = true): Promise<unknown> =>
    client.query(
      `INSERT INTO svc_lockouts (id, purpose, subject, guard, attempts, locked_at, created_at, updated_at)
       VALUES ($1, $2, $3, $4, 100, CASE WHEN $6 THEN now() - $5::interval END, now() - $5::interval, now() - $5::interval)`,
      [String(n++).padStart(26, '0'), purpose, subject, guard, age, locked],
    );
  const left = async (): Promise<string[]> =>
    (await client.query('SELECT purpose, subject FROM svc_lockouts ORDER BY id')).rows.map(
      ({ purpose, subject }) => `${purpose} ${subject}`,
    );

  describe('svc:release', () => {
    it.each(['ada@example.com', '  ADA@example.com '])(
      'releases the account with the identifier %j',
      async (subject) => {
        await lock('login', `id:${ada}`);
        await lock('login', 'idn:ada@example.com');
        await lock('confirm', ada);
        expect(await place.run('svc:release', subject)).toEqual({
          status: 0,
          stdout: `Released id:${ada} (login, guard api).\n`,
          stderr: '',
        });
        expect(await left()).toEqual(['login idn:ada@example.com', `confirm ${ada}`]);
      },
    );

    it.each(['ａｄａ@example.com', 'аdа@example.com'])(
      'does not release an account with the look-alike identifier %j',
      async (subject) => {
        await lock('login', `id:${ada}`);
        expect((await place.run('svc:release', subject)).status).toBe(1);
        expect(await left()).toEqual([`login id:${ada}`]);
      },
    );

    it('releases an identifier without an account', async () => {
      await lock('login', 'idn:北京');
      expect(await place.run('svc:release', '北京')).toMatchObject({
        status: 0,
        stdout: 'Released idn:北京 (login, guard api).\n',
      });
      expect(await left()).toEqual([]);
    });

    it.each([
      ['login', 'ada@example.com', () => `id:${ada}`],
      ['two_factor', '7', () => '7'],
      ['confirm', '7', () => '7'],
    ])('clears failures that have locked nothing, and exits with 1: %s', async (purpose, subject, counter) => {
      await lock(purpose, counter(), 'api', '0 days', false);
      expect(await place.run('svc:release', subject, `--purpose=${purpose}`)).toEqual({
        status: 1,
        stdout: `Cleared the failures of ${counter()} (${purpose}), which was not locked.\n`,
        stderr: `Nothing was released: "${subject}" is not locked for ${purpose}.\n`,
      });
      expect(await left()).toEqual([]);
    });

    it('exits with 1 for a lock that has expired, and with 0 for one that has not', async () => {
      place.write(`${settings}SVC_LOCKOUT_RELEASE_AFTER=2d\n`);
      try {
        await lock('confirm', '7', 'api', '3 days');
        await lock('confirm', '8', 'api', '1 day');
        expect(await place.run('svc:release', '7', '--purpose=confirm')).toMatchObject({
          status: 1,
          stdout: 'Cleared the failures of 7 (confirm), which was not locked.\n',
        });
        expect((await place.run('svc:release', '8', '--purpose=confirm')).status).toBe(0);
      } finally {
        place.write(settings);
      }
    });

    it('exits with 0 when one of several counters was locked', async () => {
      await lock('login', 'mail:ada@example.com');
      await lock('login', 'idn:mail:ada@example.com', 'api', '0 days', false);
      const { status, stdout, stderr } = await place.run('svc:release', 'mail:ada@example.com');
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout.split('\n').toSorted()).toEqual([
        '',
        'Cleared the failures of idn:mail:ada@example.com (login), which was not locked.',
        'Released mail:ada@example.com (login, guard api).',
      ]);
    });

    it('uses the subject of other purposes unchanged', async () => {
      await lock('two_factor', '01ARZ3NDEKTSV4RRFFQ69G5FAV');
      expect((await place.run('svc:release', '01arz3ndektsv4rrffq69g5fav', '--purpose=two_factor')).status).toBe(1);
      expect(await place.run('svc:release', '01ARZ3NDEKTSV4RRFFQ69G5FAV', '--purpose=two_factor')).toMatchObject({
        status: 0,
        stdout: 'Released 01ARZ3NDEKTSV4RRFFQ69G5FAV (two_factor, guard api).\n',
      });
    });

    it('acts on the guard of the option', async () => {
      const { rows } = await client.query('SELECT id FROM admins');
      await lock('login', `id:${ada}`);
      await lock('login', `id:${rows[0].id}`, 'admin');
      expect((await place.run('svc:release', 'ada@example.com', '--guard=admin')).status).toBe(0);
      expect(await left()).toEqual([`login id:${ada}`]);
    });

    it.each([
      ['nothing is locked', ['ada@example.com'], /Nothing was released: "ada@example.com" has no counter for login/],
      [
        'the purpose is unknown',
        ['x', '--purpose=Login'],
        /"Login" is no purpose. Use one of: login, two_factor, confirm/,
      ],
      ['the guard is unknown', ['x', '--guard=nobody'], /There is no guard "nobody". Declared: admin, staff, api/],
      ['no subject is given', [], /missing required argument/],
    ])('exits with 1 when %s', async (_, args, message) => {
      const { status, stdout, stderr } = await place.run('svc:release', ...args);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(message);
    });
  });

  describe('svc:locks', () => {
    it('lists the accounts that are locked at any guard, the newest first, and no other counter', async () => {
      expect(await place.run('svc:locks')).toEqual({ status: 0, stdout: 'No account is locked.\n', stderr: '' });
      await lock('login', 'idn:eve\u001b[2J', 'api', '2 days');
      await lock('two_factor', '7', 'api', '1 day');
      await lock('login', 'id:8', 'admin');
      await lock('login', 'id:9', 'api', '0 days', false);
      const { status, stdout } = await place.run('svc:locks');
      expect(status).toBe(0);
      expect(stdout.split('\n')).toEqual([
        'admin  login  id:8  until released',
        'api  two_factor  7  until released',
        'api  login  idn:eve?[2J  until released',
        '',
      ]);
      expect(JSON.parse((await place.run('svc:locks', '--json')).stdout)).toContainEqual({
        guard: 'api',
        purpose: 'two_factor',
        subject: '7',
        seconds: null,
      });
    });
  });

  describe('svc:prune', () => {
    const session = async (deadline: string): Promise<void> => {
      await client.query(
        `INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
         VALUES (gen_random_uuid(), 'api', $1, '', now(), now() + $2::interval, now(), now())`,
        [ada, deadline],
      );
    };

    it('prints how many rows it deleted', async () => {
      await session('-1 hour');
      await session('1 hour');
      await client.query(`INSERT INTO svc_password_resets VALUES
        ('api', '', 'x', '', '', now() - interval '61 minutes'), ('api', '', 'y', '', '', now() - interval '59 minutes')`);
      await lock('login', 'idn:held', 'api', '900 days');
      await lock('login', 'idn:old', 'admin', '31 days', false);
      await lock('login', 'idn:young', 'api', '29 days', false);
      const none = { status: 0, stderr: '' };
      expect(await place.run('svc:prune')).toEqual({
        ...none,
        stdout:
          'sessions: 1\nlockout counters: 1\npasskeys: 0\nreset tokens: 1\nchanges of email: 0\nknown devices: 0\ntrusted devices: 0\nopened links: 0\nidentities: 0\naccess keys: 0\nsuspensions: 0\nlines of histories: 0\nsecurity events: 0\ndevice keys: 0\n',
      });
      expect(await place.run('svc:prune', '--lockout-days=28')).toEqual({
        ...none,
        stdout:
          'sessions: 0\nlockout counters: 1\npasskeys: 0\nreset tokens: 0\nchanges of email: 0\nknown devices: 0\ntrusted devices: 0\nopened links: 0\nidentities: 0\naccess keys: 0\nsuspensions: 0\nlines of histories: 0\nsecurity events: 0\ndevice keys: 0\n',
      });
      expect(await left()).toEqual(['login idn:held']);
    });

    it('prints how many rows it deleted before and after a stage that failed, with the error', async () => {
      await session('-1 hour');
      await client.query(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space left'; END $$;
        CREATE TRIGGER refuse BEFORE DELETE ON svc_password_resets FOR EACH STATEMENT EXECUTE FUNCTION refuse()`);
      const { status, stdout, stderr } = await place.run('svc:prune');
      await client.query('DROP FUNCTION refuse CASCADE');
      expect([status, stdout]).toEqual([
        1,
        'sessions: 1\nlockout counters: 0\npasskeys: 0\nchanges of email: 0\nknown devices: 0\ntrusted devices: 0\nopened links: 0\nidentities: 0\naccess keys: 0\nsuspensions: 0\nlines of histories: 0\nsecurity events: 0\ndevice keys: 0\n',
      ]);
      expect(stderr).toMatch(/resetTokens: no space left/);
    });

    it.each(['soon', '-3', '1.5', '', '0', '000'])('refuses %j as a number of days', async (days) => {
      const { status, stderr } = await place.run('svc:prune', `--lockout-days=${days}`);
      expect([status, stderr]).toEqual([1, expect.stringMatching(/is no number of days/)]);
    });

    it('prints the error if the database is unavailable', async () => {
      const elsewhere = new WorkingDirectory();
      elsewhere.write(`DATABASE_URL=postgres://127.0.0.1:1/none\nSVC_SECRET=${SECRET}\n`);
      const { status, stdout, stderr } = await elsewhere.run('svc:prune');
      elsewhere.remove();
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/ECONNREFUSED/);
    });
  });
});

describe('svc:migrate', () => {
  const place = new WorkingDirectory();
  afterAll(() => place.remove());

  const run = (module: DynamicModule, ...args: string[]) => {
    const open = () => NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    const main = () => CommandFactory.run(AuthConsoleModule.forApplication(open), ['error']);
    return runInProcess(main, ['svc:migrate', ...args]);
  };

  it('creates the tables on the option pool, and says so when they exist', async () => {
    const empty = await createEmptyDatabase();
    const pool = new Pool({ connectionString: empty.url });
    const names = authMigrations.map(({ name }) => `${name}\n`).join('');
    expect(await run(PoolHost.on(pool))).toEqual({ status: 0, stdout: names, stderr: '' });
    expect(await run(PoolHost.on(pool))).toEqual({ status: 0, stdout: 'The tables are up to date.\n', stderr: '' });
    await pool.end();
    await empty.drop();
  });

  it('refuses an application on TypeORM, whose data source runs the migrations', async () => {
    const database = await createEmptyDatabase();
    place.write(`DATABASE_URL=${database.url}\nSVC_SECRET=${SECRET}\nREDIS_URL=\n`);
    const { status, stderr } = await place.run('svc:migrate');
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^The tables are on the TypeORM data source.*migration:run/),
    ]);
    await database.drop();
  });

  it('prints statements that create the same tables and record their migrations, without an application', async () => {
    const { stdout } = await place.run('svc:migrate', '--sql');
    const [byUs, byHand] = [await createEmptyDatabase(), await createEmptyDatabase()];
    const pools = [byUs, byHand].map(({ url }) => new Pool({ connectionString: url }));
    await migrateAuth(pools[0]!);
    await pools[1]!.query(stdout);
    const [ours, printed] = await Promise.all(
      pools.map(async (pool) => {
        const { rows } = await pool.query(
          `SELECT relname, attname, atttypid, attnotnull, reloptions FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
            WHERE relname LIKE 'svc\\_%' AND relname NOT LIKE '%migrations%' ORDER BY relname, attnum`,
        );
        return rows;
      }),
    );
    expect(printed!.length).toBeGreaterThan(50);
    expect(printed).toEqual(ours);
    for (const { name } of authMigrations) expect(stdout).toContain(`\n-- ${name}\nCREATE TABLE`);
    // With the name that later migrations of TypeORM expect.
    const keys = await Promise.all(
      pools.map(
        async (pool) =>
          (
            await pool.query(
              "SELECT conname FROM pg_constraint WHERE conrelid = 'svc_migrations'::regclass AND contype = 'p'",
            )
          ).rows,
      ),
    );
    expect(keys[1]).toEqual(keys[0]);
    await pools[1]!.query('DROP TABLE svc_password_resets; DELETE FROM svc_migrations WHERE id = 4');
    expect(await migrateAuth(pools[1]!)).toEqual([authMigrations[3]!.name]);
    expect(await migrateAuth(pools[1]!)).toEqual([]);
    for (const pool of pools) await pool.end();
    for (const { drop } of [byUs, byHand]) await drop();
  });
});

describe('svc:verification-link', () => {
  const run = (t: TestApp, identifier: string) => {
    const application = { get: t.app.get.bind(t.app), close: async () => undefined };
    const module = AuthConsoleModule.forApplication(async () => application);
    return runInProcess(() => CommandFactory.run(module, ['error']), ['svc:verification-link', identifier]);
  };

  describe('with the feature on', () => {
    const { t, mailbox } = membersForFile({ emailVerification: { blockUnverifiedLogin: true } });
    beforeEach(() => member(t, ADA));

    it('mails a new link to an unverified account, which can then sign in', async () => {
      await t.login(ADA, PASSWORD).expect(403);
      expect(await run(t, ' ADA@example.com ')).toEqual({
        status: 0,
        stdout: `Mailed a link to ${ADA}.\n`,
        stderr: '',
      });
      expect(mailbox.mails).toMatchObject([{ to: ADA, subject: expect.stringMatching(/^Confirm/) }]);
      await t.http.get(linkIn(mailbox.mails[0]!).href.replace(API_URL, '')).expect(204);
      await t.login(ADA, PASSWORD).expect(200);
    });

    it.each<[string, string, RegExp, () => Promise<unknown>]>([
      [
        'no account has this identifier',
        'bob@example.com',
        /No account signs in as "bob@example.com"/,
        async () => undefined,
      ],
      [
        'the address is verified',
        ADA,
        /Nothing was mailed: the address of "ada@example.com" is verified/,
        () => t.database.query('UPDATE members SET email_verified_at = now()'),
      ],
    ])('exits with 1 when %s', async (_, identifier, message, prepare) => {
      await prepare();
      expect(await run(t, identifier)).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(message) });
      expect(mailbox.mails).toEqual([]);
    });

    it('exits with an error if the mail server fails', async () => {
      mailbox.deliver = () => Promise.reject(new Error('no route to host'));
      const { status, stdout, stderr } = await run(t, ADA);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toContain('no route to host');
    });
  });

  describe('with the feature off', () => {
    const { t } = membersForFile({ features: { emailVerification: false } });

    it('exits with 1', async () => {
      await member(t, ADA);
      expect(await run(t, ADA)).toEqual({
        status: 1,
        stdout: '',
        stderr: 'features.emailVerification is off at the guard "api".\n',
      });
    });
  });
});
