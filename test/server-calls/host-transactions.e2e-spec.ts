import { AuthConfigError, Registered, SecurityStore, SessionEnded, SessionStarted } from '@svc/auth';
import { Client } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { TestApp, claimsOf } from '../support/hosts/app';
import { Mailbox, member, memberOptions, membersForFile } from '../support/hosts/members';
import { ADA } from '../support/flows/step-up';
import { PASSWORD } from '../support/hosts/user-entities';

class Undone extends Error {}

const { t } = membersForFile({ sessions: { maxPerUser: 3 } });
let id: string;
beforeEach(async () => (id = await member(t, ADA)));

const source = (): DataSource => t.app.get(DataSource);
const rolledBack = (work: (manager: EntityManager) => Promise<unknown>): Promise<void> =>
  expect(
    source().transaction(async (manager) => {
      await t.auth.within(manager, () => work(manager));
      throw new Undone();
    }),
  ).rejects.toThrow(Undone);
const rows = () => t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NULL');
const guarded = (access: string) => t.get('/auth/sessions', access);
/** Whether Redis denies the session of an access token. */
const isDenied = async (access: string): Promise<boolean> => {
  const [denial] = await t.app.get(SecurityStore).getMany([`svc:dl:fid:${String(claimsOf(access).fid)}`]);
  return denial !== null;
};

describe('a session that server code starts in a transaction of the host', () => {
  it('does not exist after a rollback, and no event tells of it', async () => {
    const started = t.recorded(SessionStarted);
    const ended = t.recorded(SessionEnded);
    let tokens = { accessToken: '', refreshToken: '' };
    await rolledBack(async () => (tokens = await t.auth.startSession(id)));
    await t.auth.settled();
    expect(await rows()).toEqual([]);
    expect([started, ended]).toEqual([[], []]);
    await t.refresh(tokens.refreshToken).expect(401);
    // Services that only verify ask Redis. An issuer refuses it without Redis, too.
    expect(await isDenied(tokens.accessToken)).toBe(true);
    await guarded(tokens.accessToken).expect(401);
    await t.app.get(SecurityStore).take(`svc:dl:fid:${String(claimsOf(tokens.accessToken).fid)}`);
    await guarded(tokens.accessToken).expect(401);
  });

  it('has no valid access token when auth.transaction() has failed', async () => {
    let access = '';
    const failed = t.auth.transaction(async () => {
      access = (await t.auth.startSession(id)).accessToken;
      throw new Undone();
    });
    await expect(failed).rejects.toThrow(Undone);
    await guarded(access).expect(401);
  });

  it('starts with the commit, with its event, also for a user that the transaction has created', async () => {
    const started = t.recorded(SessionStarted);
    const tokens = await t.auth.transaction(async (manager) => {
      const [{ id: userId }] = await manager.query(
        `INSERT INTO members (email, name, password_hash) VALUES ('new@example.com', 'New', 'x') RETURNING id`,
      );
      const begun = await t.auth.startSession(userId);
      expect(started).toEqual([]);
      return begun;
    });
    expect(started.map(({ familyId }) => familyId)).toEqual([claimsOf(tokens.accessToken).fid]);
    await t.refresh(tokens.refreshToken).expect(200);
  });

  it('does not exist after a rollback to a savepoint of the host', async () => {
    const started = t.recorded(SessionStarted);
    let access = '';
    await t.auth.transaction(async (manager) => {
      const inner = manager.transaction(async () => {
        access = (await t.auth.startSession(id)).accessToken;
        throw new Undone();
      });
      await expect(inner).rejects.toThrow(Undone);
    });
    expect([await rows(), started]).toEqual([[], []]);
    await guarded(access).expect(401);
  });

  it('ends after the commit if another request has deleted its user meanwhile, and counts for the cap', async () => {
    await t.auth.transaction(async () => {
      for (let n = 0; n < 5; n++) await t.auth.startSession(id);
    });
    expect(await rows()).toHaveLength(3);
    await t.auth.transaction(async () => {
      await t.auth.startSession(id);
      await t.database.query('DELETE FROM members');
    });
    expect(await rows()).toHaveLength(3);
  });

  it('follows the client of node-postgres whose transaction it is', async () => {
    const client = new Client({ connectionString: t.databaseUrl });
    await client.connect();
    const started = t.recorded(SessionStarted);
    const begin = () => t.auth.within(client, () => t.auth.startSession(id));
    try {
      await expect(begin()).rejects.toThrow('no open transaction');
      for (const end of ['ROLLBACK', 'COMMIT']) {
        await client.query('BEGIN');
        await begin();
        await client.query(end);
        await t.auth.settled();
        expect(await rows()).toHaveLength(end === 'COMMIT' ? 1 : 0);
      }
    } finally {
      await client.end();
    }
    expect(started).toHaveLength(1);
  });
});

describe('an end of sessions in a transaction of the host', () => {
  const ends: [string, (familyId: string) => Promise<void>][] = [
    ['revoke', (familyId) => t.auth.revoke(familyId)],
    ['revokeAll', () => t.auth.revokeAll(id)],
    ['revokeOthers', () => t.auth.revokeOthers(id, '00000000-0000-4000-8000-000000000000')],
  ];

  it.each(ends)('by %s is none after a rollback: no row, no denial and no event', async (_, end) => {
    const { access_token: access, refresh_token: refresh } = await t.session();
    const ended = t.recorded(SessionEnded);
    await rolledBack(async () => {
      await end(String(claimsOf(access).fid));
      // A request beside reads what is committed.
      await guarded(access).expect(200);
    });
    await t.auth.settled();
    expect([await isDenied(access), ended]).toEqual([false, []]);
    await t.refresh(refresh).expect(200);
  });

  it.each(ends)('by %s has its row, its denial and its event after the commit', async (_, end) => {
    const { access_token: access } = await t.session();
    const ended = t.recorded(SessionEnded);
    await t.auth.transaction(async () => {
      await end(String(claimsOf(access).fid));
      expect([await isDenied(access), ended]).toEqual([false, []]);
    });
    expect([await rows(), await isDenied(access), ended]).toEqual([[], true, [expect.anything()]]);
    await guarded(access).expect(401);
  });

  it('does not mix with that of another request', async () => {
    const other = await member(t, 'bob@example.com');
    const [ada, bob] = [await t.session(), (await t.login('bob@example.com').expect(200)).body];
    const kept = rolledBack(() => Promise.all([t.auth.revokeAll(other), t.auth.startSession(id)]));
    await Promise.all([kept, t.auth.transaction(() => t.auth.revokeAll(id))]);
    await guarded(ada.access_token).expect(401);
    await guarded(bob.access_token).expect(200);
  });
});

describe('a registration in a transaction of the host', () => {
  const fields = { name: 'Eve', email: 'eve@example.com', password: PASSWORD, password_confirmation: PASSWORD };
  const register = () => t.auth.registration.register(fields, { ip: '127.0.0.1' });

  it('leaves no account after a rollback; after the commit there are an account and its event', async () => {
    const registered = t.recorded(Registered);
    await rolledBack(register);
    await t.auth.settled();
    expect(registered).toEqual([]);
    await t.login('eve@example.com').expect(422);
    await t.auth.transaction(register);
    expect(registered).toHaveLength(1);
    await t.login('eve@example.com').expect(200);
  });
});

it('a call that cannot be part of a transaction of the host is refused in one', async () => {
  const refused = (call: () => Promise<unknown>) =>
    expect(t.auth.transaction(() => call())).rejects.toThrow(AuthConfigError);
  await refused(() => t.auth.revokeEverything());
  await refused(() => t.auth.login.attempt({ identifier: ADA, password: PASSWORD }, { ip: '127.0.0.1' }));
  await expect(t.auth.within(source().manager, () => t.auth.startSession(id))).rejects.toThrow('no open transaction');
  const pool = (source().driver as unknown as { master: object }).master;
  for (const other of [pool, {}])
    await expect(t.auth.within(other, () => t.auth.startSession(id))).rejects.toThrow('neither the entity manager');
});

describe('with a pool of one connection, a transaction of the host', () => {
  const single = TestApp.forFile(() => ({ options: memberOptions(new Mailbox(), {}), pool: { max: 1 } }));

  it('does not wait for itself', async () => {
    const userId = await member(single, ADA);
    const { accessToken } = await single.auth.transaction(() => single.auth.startSession(userId));
    await single.get('/auth/sessions', accessToken).expect(200);
    await single.auth.transaction(() => single.auth.revokeAll(userId));
    await single.get('/auth/sessions', accessToken).expect(401);
  });
});
