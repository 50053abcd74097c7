import { ForbiddenException, type HttpException } from '@nestjs/common';
import {
  AccountDeleted,
  AccountDeleting,
  AuthEvents,
  type AuthHooks,
  type AuthModuleOptions,
  SessionEnded,
} from '@svc/auth';
import { type TestApp, claimsOf } from '../support/hosts/app';
import { PausePoint } from '../support/faults/pause-point';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { member, membersForFile } from '../support/hosts/members';
import { Member, PASSWORD } from '../support/hosts/user-entities';
import { userProvidersOf } from '../support/stores/user-reads';

const AT_ONCE = 20;
const POOL = { max: 5 };

type DeleteUser = NonNullable<AuthHooks['deleteUser']>;

/** Keeps the row, as some hosts do: only the library prevents a second run of the hook. */
const anonymise: DeleteUser = async (user, { manager }) => {
  const { id } = user as Member;
  await manager.query("UPDATE members SET name = 'gone', email = id::text WHERE id = $1", [id]);
};

interface DeletionRequest {
  t: TestApp;
  token: string;
  proof: string;
}

describe('parallel deletions', () => {
  jest.setTimeout(RACES_MS);

  const log: string[] = [];
  let deleteUser: DeleteUser;
  const options: Partial<AuthModuleOptions> = {
    hooks: {
      deleteUser: async (user, context) => {
        log.push('hook');
        await deleteUser(user, context);
      },
    },
  };
  const { t } = membersForFile(options, { pool: POOL });
  // A second application on the same stores. Both are reset before each test.
  const { t: other } = membersForFile(options, () => ({ pool: POOL, databaseUrl: t.databaseUrl }));

  beforeEach(() => {
    log.length = 0;
    deleteUser = anonymise;
    for (const node of [t, other]) {
      // A listener that uses the database, like a listener of a host.
      node.on(AccountDeleting, async () => void (await node.database.query("SELECT 'deleting'"), log.push('deleting')));
      node.on(AccountDeleted, () => log.push('deleted'));
    }
  });

  async function prepareDeletion(email: string, from: TestApp = t): Promise<DeletionRequest> {
    const { access_token: token } = await from.session(email);
    return { t: from, token, proof: await confirmationTokenOf(from, token) };
  }
  const send = ({ t: node, token, proof }: DeletionRequest) =>
    node.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof);
  const erase = async (request: DeletionRequest) => (await send(request)).status;

  async function countLive(): Promise<number> {
    return (await t.database.query('SELECT count(*)::int AS n FROM svc_sessions WHERE revoked_at IS NULL'))[0].n;
  }

  it('run the hook and the events once for one account, and answer 401 to all other requests', async () => {
    for (let round = 0; round < rounds(1); round++) {
      log.length = 0;
      await member(t, 'ada@example.com');
      const [one, two] = [await prepareDeletion('ada@example.com'), await prepareDeletion('ada@example.com')];
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => erase(i % 2 ? one : two)));
      expect(answers.toSorted()).toEqual([204, ...Array<number>(AT_ONCE - 1).fill(401)]);
      expect(log).toEqual(['deleting', 'hook', 'deleted']);
    }
  });

  it('run the hook and the events once across processes', async () => {
    for (let round = 0; round < rounds(2); round++) {
      log.length = 0;
      await member(t, 'ada@example.com');
      const tickets = await Promise.all([prepareDeletion('ada@example.com'), prepareDeletion('ada@example.com')]);
      const calls = Array.from({ length: AT_ONCE }, (_, i) =>
        erase({ ...tickets[(i >> 1) % 2]!, t: [t, other][i % 2]! }),
      );
      const answers = await Promise.all(calls);
      expect(answers.filter((status) => status === 204)).toHaveLength(1);
      // A process that waits for the other one for a second answers 503.
      expect(answers.filter((status) => status !== 401 && status !== 503)).toEqual([204]);
      for (const ticket of tickets) expect(await erase(ticket)).toBe(401);
      expect(log.filter((what) => what !== 'deleting')).toEqual(['hook', 'deleted']);
    }
  });

  it('let other requests wait for the running one, and report its failure only to that one', async () => {
    const atWork = new PausePoint();
    let fails = true;
    deleteUser = async (user, context) => {
      await atWork.pass();
      if (fails) throw new Error('not today');
      await anonymise(user, context);
    };
    await member(t, 'ada@example.com');
    const [request, ended] = [await prepareDeletion('ada@example.com'), await prepareDeletion('ada@example.com')];
    const begun = userProvidersOf(t).map((users) => jest.spyOn(users, 'identifierOf'));
    const first = erase(request);
    await atWork.reached;
    expect(await erase(ended)).toBe(401);
    const second = send(request).then((answer) => answer);
    // The first request calls it twice, and waits.
    await eventually(async () => begun.flatMap(({ mock }) => mock.calls).length === 3);
    atWork.resume();
    expect(await first).toBe(500);
    expect(await second).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    // The same session can delete the account.
    fails = false;
    expect(await erase(request)).toBe(204);
    expect(log).toEqual(['deleting', 'hook', 'deleting', 'hook', 'deleted']);
  });

  it.each([
    ['is still deleting', false],
    ['has just deleted the account', true],
  ])('run the hook once if a session started meanwhile and the other process %s', async (_, hasEnded) => {
    const [atWork, announced] = [new PausePoint(), new PausePoint()];
    deleteUser = async (user, context) => {
      await atWork.pass();
      await anonymise(user, context);
    };
    other.on(AccountDeleting, () => announced.pass());
    await member(t, 'ada@example.com');
    const first = erase(await prepareDeletion('ada@example.com'));
    await atWork.reached;
    const request = { ...(await prepareDeletion('ada@example.com')), t: other };
    const second = erase(request);
    await announced.reached;
    if (hasEnded) atWork.resume();
    if (hasEnded) expect(await first).toBe(204);
    announced.resume();
    expect(await second).toBe(hasEnded ? 401 : 503);
    atWork.resume();
    expect(await first).toBe(204);
    expect(await erase(request)).toBe(401);
    expect(log.filter((what) => what !== 'deleting')).toEqual(['hook', 'deleted']);
  });

  describe('of many accounts', () => {
    const atWork = PausePoint.disabled();
    let running: number;
    let most: number;
    let tickets: DeletionRequest[];

    beforeEach(async () => {
      [running, most, tickets] = [0, 0, []];
      atWork.stop();
      atWork.arrivals = 0;
      deleteUser = async (user, context) => {
        most = Math.max(most, ++running);
        await atWork.pass();
        await t.database.query("SELECT 'beside'");
        await anonymise(user, context);
        running--;
      };
      for (let i = 0; i < AT_ONCE; i++) {
        await member(t, `user${i}@example.com`);
        tickets.push(await prepareDeletion(`user${i}@example.com`));
      }
    });

    /** Sends all requests, and waits until two of them run and all others are answered. */
    async function whileTwoRun() {
      const answered: { request: DeletionRequest; status: number; retryAfter: unknown }[] = [];
      const deletions = tickets.map(async (request) => {
        const { status, headers } = await send(request);
        answered.push({ request, status, retryAfter: headers['retry-after'] });
        return status;
      });
      await eventually(async () => answered.length === AT_ONCE - 2);
      return { refused: [...answered], deletions };
    }

    it('run two at a time; all others are answered 503 after a second, before anything has ended', async () => {
      const { refused, deletions } = await whileTwoRun();
      expect(refused.map(({ status, retryAfter }) => [status, retryAfter])).toEqual(
        Array.from({ length: AT_ONCE - 2 }, () => [503, '5']),
      );
      expect([atWork.arrivals, most]).toEqual([2, 2]);
      expect(log.filter((what) => what === 'deleting')).toHaveLength(2);
      expect(await countLive()).toBe(AT_ONCE);
      atWork.resume();
      expect((await Promise.all(deletions)).filter((status) => status === 204)).toHaveLength(2);
      // The same tokens delete the accounts when there is a place.
      for (const { request } of refused) expect(await erase(request)).toBe(204);
      expect(most).toBe(2);
      expect(log.filter((what) => what === 'deleted')).toHaveLength(AT_ONCE);
    });

    it('leave connections for other routes and for the host`s statements outside the transaction', async () => {
      await member(t, 'bob@example.com');
      const bob = await t.session('bob@example.com');
      const { deletions } = await whileTwoRun();
      await t.get('/private', bob.access_token).expect(200);
      await t.refresh(bob.refresh_token).expect(200);
      atWork.resume();
      expect((await Promise.all(deletions)).filter((status) => status === 204)).toHaveLength(2);
    });

    it('give back their places when they fail', async () => {
      deleteUser = async () => {
        throw new Error('not today');
      };
      atWork.resume();
      for (const ticket of tickets.slice(0, 4)) expect(await erase(ticket)).toBe(500);
    });
  });
});

describe('with a pool of two connections, deletions', () => {
  const atWork = new PausePoint();
  let deleteUser: DeleteUser;
  const { t } = membersForFile(
    { hooks: { deleteUser: (user, context) => deleteUser(user, context) } },
    { pool: { max: 2 } },
  );

  it('run one at a time, because the hook may need the other connection', async () => {
    const [first, second] = await Promise.all(
      ['ada@example.com', 'bob@example.com'].map(async (email) => {
        await member(t, email);
        const { access_token: token } = await t.session(email);
        const proof = await confirmationTokenOf(t, token);
        return () => t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof);
      }),
    );
    deleteUser = async (user, context) => {
      await atWork.pass();
      await t.database.query("SELECT 'beside'");
      await anonymise(user, context);
    };
    const running = first!().then(({ status }) => status);
    await atWork.reached;
    await second!().expect(503);
    expect(atWork.arrivals).toBe(1);
    atWork.resume();
    expect(await running).toBe(204);
    await second!().expect(204);
  });
});

describe('two deletions of an account at two guards with the same users', () => {
  const { t } = membersForFile({ guards: { admin: { users: { entity: Member } } } });
  const ADA = 'ada@example.com';
  const paths = { api: '/private', admin: '/staff' };
  type Guard = keyof typeof paths;

  /** The deletion through one session at a guard. The route is at the default guard; the other one has the server call. */
  async function deletionAt(guard: Guard) {
    const { body } = await t.login(ADA, undefined, guard).expect(200);
    const auth = t.auth.guard(guard);
    const bearer = { ip: '203.0.113.9', headers: { authorization: `Bearer ${body.access_token}` } };
    const headers = {
      ...bearer.headers,
      [CONFIRMATION_HEADER.toLowerCase()]: await auth.confirmation.byPassword(PASSWORD, bearer),
    };
    const run = (): Promise<number> =>
      auth.account.delete({ ...bearer, headers }).then(
        () => 204,
        (error: HttpException) => error.getStatus(),
      );
    const isLive = async (): Promise<boolean> => (await t.get(paths[guard], body.access_token)).status === 200;
    return { run, isLive, familyId: String(claimsOf(body.access_token).fid) };
  }

  const isWaitedFor = (count: number) => async (): Promise<boolean> => {
    const waiting = await t.database.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return waiting.length === count;
  };

  it('delete it once, whatever their order', async () => {
    for (let round = 0; round < rounds(2); round++) {
      const deleted = t.recorded(AccountDeleted);
      await member(t, ADA);
      const deletions = [await deletionAt('api'), await deletionAt('admin')];
      // Both have begun, and neither has ended a session.
      const runner = t.database.createQueryRunner();
      await runner.startTransaction();
      await runner.query('SELECT 1 FROM svc_sessions FOR UPDATE');
      const answers = deletions.map(({ run }) => run());
      await eventually(isWaitedFor(2));
      await runner.commitTransaction();
      await runner.release();
      expect((await Promise.all(answers)).toSorted()).toEqual([204, 401]);
      expect(deleted).toHaveLength(1);
      expect(await t.database.query('SELECT 1 FROM members')).toEqual([]);
      expect(await t.database.query("SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL OR user_id <> ''")).toEqual(
        [],
      );
    }
  });

  it('leave the sessions of the other guard alive if they fail, and end them with the account', async () => {
    const ended = t.recorded(SessionEnded);
    await member(t, ADA);
    const [one, other] = [await deletionAt('api'), await deletionAt('admin')];
    const stop = t.app.get(AuthEvents).on(AccountDeleting, () => {
      throw new ForbiddenException();
    });
    expect(await one.run()).toBe(403);
    expect([await one.isLive(), await other.isLive()]).toEqual([true, true]);
    stop();
    expect(await one.run()).toBe(204);
    expect([await one.isLive(), await other.isLive()]).toEqual([false, false]);
    const seen = ended.map(({ guard, familyId, reason }) => [guard, familyId, reason]);
    expect(seen.toSorted()).toEqual(
      [
        ['admin', other.familyId, 'erased'],
        ['api', one.familyId, 'erased'],
      ].toSorted(),
    );
  });
});
