import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp } from '../support/app';
import { ADA, HEADER, proofOf } from '../support/confirming';
import { mentions } from '../support/mentions';
import { storePasskey } from '../support/passkeys';
import { describeWithRedis, sharedRedisUrl } from '../support/with-redis';

describeWithRedis('an account whose erasure is killed', () => {
  let t: TestApp;

  beforeAll(async () => (t = await TestApp.start({ options: { features: { lockout: true } } })));
  afterAll(() => t.stop());

  async function launch(): Promise<{ url: string; child: ChildProcess }> {
    const stores = { databaseUrl: t.databaseUrl, redisUrl: sharedRedisUrl() };
    const child = fork(join(__dirname, '../support/dying-process.ts'), {
      execArgv: ['--require', join(__dirname, '../support/register-ts.cjs')],
      env: { ...process.env, HOST_OPTIONS: JSON.stringify(stores) },
    });
    const [url] = await once(child, 'message');
    return { url, child };
  }

  /** Whether the database has let go of everything the dead process had begun. */
  async function settled(): Promise<void> {
    const open = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE '%in transaction%'`;
    while ((await t.database.query(open)).length > 0) await sleep(20);
  }

  it('is there as a whole or not at all, whichever statement it dies at', async () => {
    const fates: string[] = [];
    for (let statement = 1; fates.at(-1) !== 'answered'; statement++) {
      await t.database.query('TRUNCATE people, svc_lockouts, svc_sessions, svc_password_resets, passkeys CASCADE');
      const id = await t.person(ADA);
      const { access_token: token } = await t.session();
      const proof = await proofOf(t, token);
      await t.login(ADA, 'wrong').expect(422);
      await storePasskey(t, 'cred', id);
      await t.database.query(`INSERT INTO svc_password_resets VALUES ('api', '', $1, 'x', 'y', now())`, [id]);
      const whole = (await mentions(t, [`${ADA}`, `(cred,${id}`, `api,"",${id}`, `id:${id}`, `,${id},api`])).toSorted();

      const { url, child } = await launch();
      child.send(statement);
      await once(child, 'message');
      const headers = { Authorization: `Bearer ${token}`, [HEADER]: proof };
      const status = await fetch(`${url}/auth/account`, { method: 'DELETE', headers }).then(
        (response) => response.status,
        () => 0,
      );
      child.kill('SIGKILL');
      await settled();
      const left = (await mentions(t, [`${ADA}`, `(cred,${id}`, `api,"",${id}`, `id:${id}`, `,${id},api`])).toSorted();
      expect([[], whole]).toContainEqual(left);
      // Whole is an account that can be signed in to, and none is an address that can be taken anew.
      if (left.length === 0) await t.person(ADA);
      await t.login(ADA).expect(200);
      if (status === 204) expect(left).toEqual([]);
      fates.push(status === 204 ? 'answered' : left.length ? 'whole' : 'gone');
      expect(statement).toBeLessThan(40);
    }
    expect(fates.filter((fate) => fate === 'whole').length).toBeGreaterThan(8);
  }, 240_000);
});
