import { AuthConfigError, SecurityStore, SessionEnded, SessionStarted, Unauthenticated } from '@svc/auth';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Client } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { ADA } from '../support/flows/step-up';
import { TestApp, type Tokens, claimsOf } from '../support/hosts/app';
import { Mailbox, member, memberOptions, membersForFile } from '../support/hosts/members';
import { Member, PASSWORD } from '../support/hosts/user-entities';
import { eventually } from '../support/runtime/eventually';
import { deniedKey } from '../support/stores/denylist-state';

/** The connection of a client: here the client has given it up, and the server has not. */
interface WritableConnection {
  query(text: string): void;
  stream: Socket;
}

class Undone extends Error {}
const undone = async (): Promise<never> => {
  throw new Undone();
};

let isSuspended = false;
/** What the hook does for a suspended user. */
let refuse = (): boolean => false;
const canSignIn = (): boolean => !isSuspended || refuse();
const { t } = membersForFile({ hooks: { canSignIn } });
let id: string;
beforeEach(async () => {
  isSuspended = false;
  id = await member(t, ADA);
});

const register = (email: string) =>
  t.auth.registration.register(
    { name: 'Eve', email, password: PASSWORD, password_confirmation: PASSWORD },
    { ip: '127.0.0.1' },
  );
const live = () => t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NULL');
const statusOf = async ({ access_token: token }: Tokens): Promise<number> =>
  (await t.get('/auth/sessions', token)).status;
const keyOf = ({ access_token: token }: Tokens): string => deniedKey(claimsOf(token).fid);
const isDenied = async (session: Tokens): Promise<boolean> =>
  (await t.app.get(SecurityStore).getMany([keyOf(session)]))[0] !== null;

/** Runs `work` with a client of the package pg, after BEGIN. */
async function withClient(work: (client: Client) => Promise<void>, url = t.databaseUrl): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN');
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

describe('a rollback that keeps the transaction of the host', () => {
  it('to a savepoint undoes an end of sessions: no row, no denial and no event', async () => {
    const session = await t.session();
    const ended = t.recorded(SessionEnded);
    await t.auth.transaction(async (manager) => {
      const inner = manager.transaction(async () => {
        await t.auth.revokeAll(id);
        throw new Undone();
      });
      await expect(inner).rejects.toThrow(Undone);
    });
    await t.auth.settled();
    expect([await isDenied(session), ended, await statusOf(session)]).toEqual([false, [], 200]);
  });

  it('to a savepoint does not weaken an end outside of it: sessions that start until the commit end, too', async () => {
    const early = await t.session();
    let late!: Tokens;
    await t.auth.transaction(async (manager) => {
      await t.auth.revokeAll(id);
      await expect(manager.transaction(undone)).rejects.toThrow(Undone);
      late = await t.session();
    });
    expect([await statusOf(early), await statusOf(late), await live()]).toEqual([401, 401, []]);
  });

  it('is not taken for a commit when one message ends it and begins the next one', async () => {
    const session = await t.session();
    const ended = t.recorded(SessionEnded);
    await withClient(async (client) => {
      await t.auth.within(client, () => t.auth.revokeAll(id));
      await client.query('ROLLBACK; BEGIN');
      await client.query('COMMIT');
    });
    await t.auth.settled();
    expect([await isDenied(session), ended, await statusOf(session)]).toEqual([false, [], 200]);
  });
});

describe('an error in a transaction of the host', () => {
  it('of a call undoes this call only', async () => {
    const started = t.recorded(SessionStarted);
    await t.auth.transaction(async () => {
      await expect(register(ADA)).rejects.toMatchObject({ status: 422 });
      await expect(t.auth.startSession('00000000-0000-4000-8000-000000000000')).rejects.toThrow(Unauthenticated);
      await t.auth.startSession(id);
    });
    expect([(await live()).length, started.length]).toEqual([1, 1]);
  });

  it('that is the refusal of a call rolls back what the host has written', async () => {
    const begun = t.auth.transaction(async (manager) => {
      await manager.delete(Member, id);
      await t.auth.startSession(id);
    });
    await expect(begun).rejects.toThrow(Unauthenticated);
    expect(await t.database.getRepository(Member).countBy({ id })).toBe(1);
  });

  it('of a statement before a call reaches the caller, also if the host has ignored it', async () => {
    const session = await t.session();
    const fail = (manager: EntityManager) => manager.query('SELECT 1 / 0').catch(() => undefined);
    const before = t.app.get(DataSource).transaction(async (manager) => {
      await fail(manager);
      await t.auth.within(manager, () => t.auth.revokeAll(id));
    });
    await expect(before).rejects.toMatchObject({ code: '25P02' });
    const after = t.auth.transaction(async (manager) => {
      await t.auth.revokeAll(id);
      await fail(manager);
    });
    await expect(after).rejects.toMatchObject({ code: '25P02' });
    await t.auth.settled();
    expect([await isDenied(session), await statusOf(session)]).toEqual([false, 200]);
  });
});

describe('calls in a transaction of the host that run side by side', () => {
  it('have turns: an error of one does not undo the others, nor does it end the transaction', async () => {
    const session = await t.session();
    let results!: PromiseSettledResult<unknown>[];
    await t.auth.transaction(async (manager) => {
      const failing = t.auth.within(manager, async () => {
        await Promise.all([t.auth.revokeAll(id), undone()]);
      });
      const kept = t.auth.within(manager, () => t.auth.startSession(id));
      results = await Promise.allSettled([failing, kept, t.auth.startSession(id), t.auth.startSession(id)]);
    });
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    expect([(await live()).length, await statusOf(session)]).toEqual([4, 200]);
  });

  it('are awaited: the transaction is rolled back if one is not', async () => {
    const begun = t.auth.transaction(async () => void t.auth.startSession(id));
    await expect(begun).rejects.toThrow('Await each call');
    expect(await live()).toEqual([]);
  });

  it('are refused after an error has ended the transaction', async () => {
    let goOn!: () => void;
    const later = new Promise<void>((resolve) => (goOn = resolve));
    let late!: Promise<unknown>;
    const begun = t.auth.transaction(() => {
      late = later.then(() => t.auth.startSession(id));
      return Promise.all([undone(), late]);
    });
    await expect(begun).rejects.toThrow(Undone);
    goOn();
    await expect(late).rejects.toThrow(AuthConfigError);
    expect(await live()).toEqual([]);
  });
});

it.each([
  ['refuses', () => false],
  [
    'fails for',
    () => {
      throw new Undone();
    },
  ],
])('a session is ended after the commit if the hook %s its user meanwhile', async (_, answer) => {
  refuse = answer;
  const started = t.recorded(SessionStarted);
  const { refreshToken } = await t.auth.transaction(async () => {
    const tokens = await t.auth.startSession(id);
    isSuspended = true;
    return tokens;
  });
  isSuspended = false;
  expect([await live(), started]).toEqual([[], []]);
  await t.refresh(refreshToken).expect(401);
});

it('without a denial, as after the death of the process, an issuing service reads the ended row', async () => {
  const session = await t.session();
  await t.auth.transaction(() => t.auth.revokeAll(id));
  await t.app.get(SecurityStore).take(keyOf(session));
  expect([await isDenied(session), await statusOf(session)]).toEqual([false, 401]);
});

describe('a connection that is lost in a transaction of the host', () => {
  let proxy: TcpProxy;
  beforeAll(async () => (proxy = await TcpProxy.to(Number(new URL(t.databaseUrl).port))));
  afterAll(() => proxy.close());

  it.each([
    ['before the commit arrives', false],
    ['before the answer to the commit arrives', true],
  ])('%s: what follows the commit is done if there was one', async (_, isCommitted) => {
    const session = await t.session();
    const ended = t.recorded(SessionEnded);
    await withClient(async (client) => {
      await t.auth.within(client, () => t.auth.revokeAll(id));
      proxy.instead('COMMIT', () => (isCommitted ? proxy.at(1, () => proxy.cut()) : proxy.cut()));
      await expect(client.query('COMMIT')).rejects.toThrow();
    }, proxy.through(t.databaseUrl));
    await t.auth.settled();
    expect([await isDenied(session), ended.length]).toEqual([isCommitted, isCommitted ? 1 : 0]);
    expect(await statusOf(session)).toBe(isCommitted ? 401 : 200);
  });

  it('while the server still works on the commit: the result is awaited', async () => {
    const session = await t.session();
    await withClient(async (client) => {
      const { connection } = client as unknown as { connection: EventEmitter & WritableConnection };
      await t.auth.within(client, () => t.auth.revokeAll(id));
      connection.emit('end');
      await eventually(async () => (await t.database.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0);
      connection.query('COMMIT');
      await t.auth.settled();
      connection.stream.destroy();
    });
    expect([await isDenied(session), await statusOf(session)]).toEqual([true, 401]);
  });
});

describe('with a pool of one connection, a transaction of the host', () => {
  let current: EntityManager;
  const hooks = {
    register: ({ name, email }: { name?: unknown; email?: unknown }) =>
      current.save(Member, { name, email, passwordHash: 'x' } as Member),
  };
  const single = TestApp.forFile(() => ({ options: memberOptions(new Mailbox(), { hooks }), pool: { max: 1 } }));

  it('contains a registration by hooks.register with its session', async () => {
    await single.auth.transaction(async (manager) => {
      current = manager;
      const fields = { name: 'Eve', email: 'eve@example.com', password: PASSWORD, password_confirmation: PASSWORD };
      await single.auth.registration.register(fields, { ip: '127.0.0.1' });
    });
    expect(await single.database.query('SELECT FROM svc_sessions WHERE revoked_at IS NULL')).toHaveLength(1);
  });

  it('can be repeated after a rollback when hooks.register creates the user with the same id', async () => {
    const fields = { name: 'Eve', email: 'eve@example.com', password: PASSWORD, password_confirmation: PASSWORD };
    const userId = '11111111-1111-4111-8111-111111111111';
    const begin = (isUndone: boolean) =>
      single.auth.transaction(async (manager) => {
        current = {
          save: (entity: typeof Member, values: Member) => manager.save(entity, { ...values, id: userId }),
        } as never;
        await single.auth.registration.register(fields, { ip: '127.0.0.1' });
        if (isUndone) throw new Undone();
      });
    await expect(begin(true)).rejects.toThrow(Undone);
    await single.auth.settled();
    await begin(false);
    expect(await single.database.getRepository(Member).countBy({ id: userId })).toBe(1);
  });

  it('contains no call of another application', async () => {
    const begun = t.auth.transaction(() => single.auth.revokeAll(id));
    await expect(begun).rejects.toThrow(AuthConfigError);
  });

  it('does not keep settled() waiting while it is open', async () => {
    await t.auth.transaction(async () => {
      await t.auth.startSession(id);
      expect(await single.auth.settled(10)).toBe(true);
    });
  });
});
