import { DataSource, type QueryRunner } from 'typeorm';
import { AccessKeyStore } from '../../libs/auth/src/features/access-keys/access-key.store';
import { TestApp } from '../support/hosts/app';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { failStatements } from '../support/faults/failing-statements';
import { KeyedOrders, createKey, keyOwner, postKey } from '../support/flows/access-keys';
import { PausePoint } from '../support/faults/pause-point';
import { eventually } from '../support/runtime/eventually';

const NEW = 'another horse entirely';

/** Runs `meanwhile` once, when an end of all keys of a user has reached the last of them. */
function afterEnd(meanwhile: () => Promise<unknown>): void {
  const { revokePage } = AccessKeyStore.prototype;
  let isOver = false;
  jest.spyOn(AccessKeyStore.prototype, 'revokePage').mockImplementation(async function (this: AccessKeyStore, ...args) {
    const page = await revokePage.apply(this, args);
    if (page.next === null && !isOver) {
      isOver = true;
      await meanwhile();
    }
    return page;
  });
}

describe('an access key that is created', () => {
  /** Where a creation waits after its confirmation was checked. */
  const resolving = PausePoint.disabled();
  const t = TestApp.forFile({
    controllers: [KeyedOrders],
    options: {
      features: { accessKeys: true },
      accessKeys: { maxPerUser: 1000 },
      hooks: {
        abilities: async () => {
          await resolving.pass();
          return [];
        },
      },
    },
  });
  beforeEach(() => t.person(ADA));

  it('while all sessions end does not survive them', async () => {
    const owner = await keyOwner(t);
    let text = '';
    afterEnd(async () => {
      text = (await createKey(t, owner)).access_key;
      await t.get('/orders', text).expect(200);
    });
    await t.call('delete', '/auth/sessions', owner.tokens.access_token).expect(204);
    await t.get('/orders', text).expect(401);
  });

  it('while all sessions end does not survive an answer of 204, also when PostgreSQL fails in between', async () => {
    const owner = await keyOwner(t);
    let text = '';
    let allow: () => Promise<unknown> = async () => undefined;
    afterEnd(async () => {
      text = (await createKey(t, owner)).access_key;
      allow = await failStatements(t, 'UPDATE ON svc_access_keys');
    });
    const { status } = await t.call('delete', '/auth/sessions', owner.tokens.access_token);
    await allow();
    const { status: after } = await t.get('/orders', text);
    expect([status, after]).toEqual([204, 401]);
  });

  it('by another session, while a change of the password ends the keys, ends too', async () => {
    const [owner, thief] = [await keyOwner(t), await keyOwner(t)];
    const creation = (resolving.stop(1), Promise.resolve(postKey(t, thief)));
    await resolving.reached;
    let text = '';
    afterEnd(async () => {
      resolving.resume();
      const { status, body } = await creation;
      expect(status).toBe(200);
      text = body.access_key;
    });
    await t
      .call('post', '/auth/password', owner.tokens.access_token)
      .send({ current_password: PASSWORD, password: NEW, password_confirmation: NEW, end_access_keys: true })
      .expect(200);
    await postKey(t, thief).expect(401);
    await t.get('/orders', text).expect(401);
  });

  it('ends with all of its owner, however many of them other requests end at the same time', async () => {
    const owner = await keyOwner(t);
    const key = await createKey(t, owner);
    // The last one in the order of an end.
    const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    await t.database.query(
      `INSERT INTO svc_access_keys (id, guard, user_id, label, scope, networks, secret_mac, created_at, seen_networks)
       SELECT lpad(n::text, 32, '0')::uuid, 'api', '1', 'x', '', '', '', now(), '' FROM generate_series(1, 500) n
       UNION ALL SELECT $2, 'api', '1', 'x', '', '', '', now(), '' FROM svc_access_keys WHERE id = $1`,
      [key.id, last],
    );
    const [first, second] = [await holding(t.database, 1, 250), await holding(t.database, 251, 500)];
    const answer = t.call('delete', '/auth/sessions', owner.tokens.access_token).then(({ status }) => status);
    await blocked(t.database);
    await first.commitTransaction();
    await blocked(t.database);
    await second.commitTransaction();
    expect(await answer).toBe(204);
    await Promise.all([first.release(), second.release()]);
    const [{ live }] = await t.database.query(
      'SELECT count(*)::int AS live FROM svc_access_keys WHERE revoked_at IS NULL',
    );
    expect(live).toBe(0);
  });
});

/** A transaction that has ended these keys, and has not committed. */
async function holding(database: DataSource, from: number, to: number): Promise<QueryRunner> {
  const runner = database.createQueryRunner();
  await runner.startTransaction();
  await runner.query(
    `UPDATE svc_access_keys SET revoked_at = now() WHERE id BETWEEN lpad($1::text, 32, '0')::uuid AND lpad($2::text, 32, '0')::uuid`,
    [from, to],
  );
  return runner;
}

/** Waits until a statement on the keys waits for a lock. */
const blocked = (database: DataSource): Promise<void> =>
  eventually(async () => {
    const [{ waiting }] = await database.query(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%svc_access_keys%'`,
    );
    return waiting === 1;
  });
