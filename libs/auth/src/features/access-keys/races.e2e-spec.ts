import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'supertest';
import { DataSource, type QueryRunner } from 'typeorm';
import { AccessKeyStore } from './access-key.store';
import { TestApp } from '../../../../../test/support/hosts/app';
import { ADA, PASSWORD } from '../../../../../test/support/hosts/user-entities';
import { failStatements } from '../../../../../test/support/faults/failing-statements';
import {
  KeyedOrders,
  type KeyOwnerSession,
  createKey,
  keyOwner,
  postKey,
} from '../../../../../test/support/flows/access-keys';
import { PausePoint } from '../../../../../test/support/faults/pause-point';
import { CONFIRMATION_HEADER } from '../../../../../test/support/flows/step-up';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { RACES_MS, rounds } from '../../../../../test/support/runtime/rounds';

const NEW = 'another horse entirely';

/** Runs `meanwhile` once, when an end of all keys of a user has found the last of them. */
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

  /** A creation of a session that waits after its confirmation was checked, and goes on when an end has found the last key. */
  async function duringEnd(creator: KeyOwnerSession, more: () => Promise<unknown> = async () => undefined) {
    const creation = (resolving.stop(1), Promise.resolve(postKey(t, creator)));
    await resolving.reached;
    afterEnd(async () => {
      resolving.resume();
      await creation;
      await more();
    });
    return { creation };
  }

  /** Requires that the creation was refused, or that its key is. */
  async function expectNoKey(creation: Promise<Response>): Promise<void> {
    const { status, body } = await creation;
    if (status === 200) await t.get('/orders', body.access_key).expect(401);
    else expect(status).toBe(401);
  }

  it('while all sessions end does not survive them', async () => {
    const owner = await keyOwner(t);
    const { creation } = await duringEnd(owner);
    await t.call('delete', '/auth/sessions', owner.tokens.access_token).expect(204);
    await expectNoKey(creation);
  });

  it('while all sessions end does not survive an answer of 204, also when PostgreSQL fails in between', async () => {
    const owner = await keyOwner(t);
    let allow: () => Promise<unknown> = async () => undefined;
    const { creation } = await duringEnd(
      owner,
      async () => (allow = await failStatements(t, 'UPDATE ON svc_access_keys')),
    );
    const { status } = await t.call('delete', '/auth/sessions', owner.tokens.access_token);
    await allow();
    if (status === 503) return;
    expect(status).toBe(204);
    await expectNoKey(creation);
  });

  it('by another session, while a change of the password ends the keys, ends too', async () => {
    const [owner, thief] = [await keyOwner(t), await keyOwner(t)];
    const { creation } = await duringEnd(thief);
    await t
      .call('post', '/auth/password', owner.tokens.access_token)
      .send({ current_password: PASSWORD, password: NEW, password_confirmation: NEW, end_access_keys: true })
      .expect(200);
    await expectNoKey(creation);
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

describe('an access key of a person whose account is deleted', () => {
  /** Where a creation waits after its row was inserted, before its commit. */
  const inserted = PausePoint.disabled();
  const t = TestApp.forFile({ controllers: [KeyedOrders], options: { features: { accessKeys: true } } });
  beforeEach(async () => {
    const { add } = AccessKeyStore.prototype;
    jest.spyOn(AccessKeyStore.prototype, 'add').mockImplementation(async function (this: AccessKeyStore, ...args) {
      const added = await add.apply(this, args);
      await inserted.pass();
      return added;
    });
  });
  afterEach(() => jest.restoreAllMocks());

  const erase = async ({ tokens, proof }: KeyOwnerSession): Promise<number> =>
    (await t.call('delete', '/auth/account', tokens.access_token).set(CONFIRMATION_HEADER, proof)).status;
  /** As code of the host does. */
  const ofHost = (userId: string): Promise<string | null> =>
    t.auth.accessKeys.create({ userId }, { label: 'x' }).then(
      ({ access_key: text }) => text,
      () => null,
    );
  const ofPerson = async (owner: KeyOwnerSession): Promise<string | null> =>
    (await postKey(t, owner)).body.access_key ?? null;

  /** No key works, and no row could become that of another person with this id. */
  async function expectNone(texts: readonly (string | null)[]): Promise<void> {
    await t.calm();
    expect(await t.database.query('SELECT id FROM svc_access_keys WHERE revoked_at IS NULL')).toEqual([]);
    for (const text of texts) if (text) await t.get('/orders', text).expect(401);
  }

  it('is deleted with it, when its row was not committed before', async () => {
    for (const isOfHost of [false, true]) {
      const id = await t.person(ADA);
      const owner = await keyOwner(t);
      inserted.stop(1);
      const creation = isOfHost ? ofHost(id) : ofPerson(owner);
      await inserted.reached;
      const erasure = erase(owner);
      // The deletion waits for the session that the creation has locked, or does not see the row.
      await Promise.race([erasure, eventually(async () => (await waitingIn(t.database)) > 0)]);
      inserted.resume();
      const text = await creation;
      expect(await erasure).toBe(204);
      await expectNone([text]);
    }
  });

  it('is not created after it', async () => {
    const id = await t.person(ADA);
    const owner = await keyOwner(t);
    expect(await erase(owner)).toBe(204);
    await expectNone([await ofPerson(owner), await ofHost(id)]);
  });

  it(
    'never remains, whenever it is created',
    async () => {
      for (let round = 0; round < rounds(30); round++) {
        const email = `ada${round}@example.com`;
        const id = await t.person(email);
        const owner = await keyOwner(t, email);
        const creations = [0, 1, 2].map(async (i) => {
          await sleep((round + 5 * i) % 16);
          return i === 2 ? ofHost(id) : ofPerson(owner);
        });
        const erasure = sleep(round % 5).then(() => erase(owner));
        expect(await erasure).toBe(204);
        await expectNone(await Promise.all(creations));
      }
    },
    RACES_MS,
  );
});

/** Number of statements that wait for a lock. */
async function waitingIn(database: DataSource): Promise<number> {
  const [{ waiting }] = await database.query(
    `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return waiting;
}

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
