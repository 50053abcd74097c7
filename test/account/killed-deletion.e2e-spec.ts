import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { TestApp } from '../support/hosts/app';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { tablesContaining } from '../support/views/find-texts';
import { storePasskey } from '../support/flows/passkeys';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

/** More than the 35 statements of a deletion until its commit, so that a process is killed at each of them. */
const ACCOUNTS = 42;

interface Account {
  email: string;
  headers: Record<string, string>;
  /** Texts that identify its rows. */
  texts: string[];
  /** The tables with a row of the account. */
  tables: string[];
}

describeWithRedis('an account whose deletion is interrupted by a killed process', () => {
  const t = TestApp.forFile({ options: { features: { lockout: true } } });

  /** An account with a row in every table. */
  async function account(n: number): Promise<Account> {
    const email = `ada${n}@example.com`;
    const id = await t.person(email);
    const { access_token: token } = await t.session(email);
    const headers = { Authorization: `Bearer ${token}`, [CONFIRMATION_HEADER]: await confirmationTokenOf(t, token) };
    await t.login(email, 'wrong').expect(422);
    await storePasskey(t, `cred${n}`, id);
    await t.database.query(`INSERT INTO svc_password_resets VALUES ('api', '', $1, 'x', 'y', now())`, [id]);
    const texts = [email, `(cred${n},${id}`, `api,"",${id}`, `id:${id}`, `,${id},api`];
    return { email, headers, texts, tables: await tablesContaining(t, texts) };
  }

  /** Starts hosts, the nth of which stops before its nth statement; the last one does not stop. The promises resolve when they stop. */
  async function launch(): Promise<{ urls: string[]; frozen: Promise<void>[]; child: ChildProcess }> {
    const stores = { databaseUrl: t.databaseUrl, redisUrl: sharedRedisUrl(), hosts: ACCOUNTS };
    const child = fork(join(__dirname, '../support/hosts/stalled-hosts-process.ts'), {
      execArgv: ['--require', join(__dirname, '../support/runtime/register-ts.cjs')],
      env: { ...process.env, HOST_OPTIONS: JSON.stringify(stores) },
    });
    const [urls] = await once(child, 'message');
    const freeze: (() => void)[] = [];
    const frozen = urls.map(() => new Promise<void>((resolve) => freeze.push(resolve)));
    child.on('message', (n: number) => freeze[n - 1]!());
    return { urls, frozen, child };
  }

  /** Whether the database has ended every transaction of the killed process. */
  const hasSettled = async (): Promise<boolean> => {
    const open = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE '%in transaction%'`;
    return (await t.database.query(open)).length === 0;
  };

  it('exists completely or not at all, at whatever statement the process is killed', async () => {
    // Ids of equal length, so that no id contains another one.
    await t.database.query('ALTER SEQUENCE people_id_seq RESTART WITH 1001');
    const accounts: Account[] = [];
    for (let n = 1; n <= ACCOUNTS; n++) accounts.push(await account(n));

    const { urls, frozen, child } = await launch();
    const erasures = accounts.map(({ headers }, i) =>
      fetch(`${urls[i]}/auth/account`, { method: 'DELETE', headers }).then(
        ({ status }) => status,
        () => 0,
      ),
    );
    await Promise.all(erasures.map((erasure, i) => Promise.race([erasure, frozen[i]])));
    child.kill('SIGKILL');
    const statuses = await Promise.all(erasures);
    await eventually(hasSettled);

    const fates: string[] = [];
    for (const [i, { email, headers, texts, tables }] of accounts.entries()) {
      const remaining = await tablesContaining(t, texts);
      expect([[], tables]).toContainEqual(remaining);
      // A complete account can sign in. The address of a deleted account can register again.
      if (remaining.length === 0) await t.person(email);
      await t.login(email).expect(200);
      // The session that sent the request is not denied before the commit.
      if (remaining.length) await t.http.delete('/auth/account').set(headers).expect(204);
      if (statuses[i] === 204) expect(remaining).toEqual([]);
      else expect(statuses[i]).toBe(0);
      fates.push(statuses[i] === 204 ? 'answered' : remaining.length ? 'whole' : 'gone');
    }
    expect(fates.filter((fate) => fate === 'whole').length).toBeGreaterThan(8);
    expect(fates.at(-1)).toBe('answered');
    // Some processes stopped after the commit: the accounts are enough for all statements.
    expect(fates.slice(0, -1)).toEqual(expect.arrayContaining([expect.stringMatching(/gone|answered/)]));
  });
});
