import { SecurityStore, SessionEnded, StoreUnavailable, Unauthenticated, withAuthColumns } from '@svc/auth';
import { SoftAuthenticator, totpCode } from '@svc/auth/testing';
import { Entity, PrimaryColumn } from 'typeorm';
import { TestApp } from '../support/hosts/app';
import { memberOptions, Mailbox, member } from '../support/hosts/members';
import { ORIGIN, PasskeyApp } from '../support/flows/passkeys';
import { fillAnew, recordStatements, shareOfIndexRead } from '../support/stores/query-plans';
import { codeOf, completeChallenge, enrol, startChallenge } from '../support/flows/two-factor';
import { ADA, Member, PASSWORD } from '../support/hosts/user-entities';

/** Ids as some services generate them: more digits than a number of JavaScript can represent. */
@Entity('big_ids')
class BigId extends withAuthColumns() {
  @PrimaryColumn('bigint')
  id!: string;
}

/** The entity declares `uuid`, and the column of the database is a text. */
@Entity('text_as_uuids')
class TextAsUuid extends withAuthColumns() {
  @PrimaryColumn('uuid')
  id!: string;
}

const TEXT = 'This account may not sign in. Please contact support.';

/** The users that the host refuses, by guard and id. */
const suspended = new Set<string>();
let seen: { user: object; guard: string }[] = [];
/** Replaces the answer of the hook. */
let faulty: (() => unknown) | undefined;
const canSignIn = (user: object, { guard }: { guard: string }): boolean => {
  seen.push({ user, guard });
  return faulty ? (faulty() as boolean) : !suspended.has(`${guard}:${(user as { id: unknown }).id}`);
};

beforeEach(() => {
  suspended.clear();
  seen = [];
  faulty = undefined;
});

describe.each(['api', 'admin'])('a suspended user of the guard %s', (guard) => {
  const t = TestApp.forFile({ options: { hooks: { canSignIn }, features: { twoFactor: true } } });
  let id: string;
  beforeEach(async () => {
    id = await t.person(ADA, guard);
    // A user with the same id of the other guard may sign in all the time.
    await t.person('other@example.com', guard === 'api' ? 'admin' : 'api');
  });
  afterEach(async () => void (await t.session('other@example.com', guard === 'api' ? 'admin' : 'api')));

  const suspend = (): unknown => suspended.add(`${guard}:${id}`);
  const liveSessions = async (): Promise<number> => {
    const statement = 'SELECT 1 FROM svc_sessions WHERE guard = $1 AND user_id = $2 AND revoked_at IS NULL';
    return (await t.database.query(statement, [guard, id])).length;
  };

  it('gets 401 at the login, only with the correct password, and no session remains', async () => {
    await t.session(ADA, guard);
    suspend();
    const { body } = await t.login(ADA, PASSWORD, guard).expect(401);
    expect(body).toEqual({ message: TEXT });
    await t.login(ADA, 'wrong', guard).expect(422);
    expect(await liveSessions()).toBe(1);
    expect(seen.at(-1)).toMatchObject({ guard, user: { id: Number(id), email: ADA } });
    expect(seen.at(-1)!.user).not.toHaveProperty('passwordHash');
  });

  it('gets 401 at a refresh, like every refusal, and the session ends once', async () => {
    const ended = t.recorded(SessionEnded);
    const session = await t.session(ADA, guard);
    suspend();
    const { body } = await t.refresh(session.refresh_token, guard).expect(401);
    expect(body).toEqual((await t.refresh('nothing', guard).expect(401)).body);
    expect(ended).toMatchObject([{ guard, userId: id, reason: 'disabled' }]);
    suspended.clear();
    await t.refresh(session.refresh_token, guard).expect(401);
    await t.get(guard === 'api' ? '/private' : '/staff', session.access_token).expect(401);
    expect(ended).toHaveLength(1);
  });

  it('gets no session from server code', async () => {
    suspend();
    await expect(t.auth.guard(guard).startSession(id)).rejects.toMatchObject({ code: 'sign_in_refused' });
    const session = t.auth.guard(guard).login.attempt({ identifier: ADA, password: PASSWORD }, {});
    await expect(session).rejects.toMatchObject({ code: 'sign_in_refused' });
    expect(await liveSessions()).toBe(0);
  });

  it('gets 401 at a login challenge, and can complete it later', async () => {
    const { twoFactor } = t.auth.guard(guard);
    const { otpauthUri, recoveryCodes } = await twoFactor.enrol({ id: Number(id), email: ADA });
    await twoFactor.confirm(id, totpCode(otpauthUri, t.clock));
    const challenge = await startChallenge(t, ADA, guard);
    suspend();
    const answer = () => completeChallenge(t, { challenge_token: challenge, recovery_code: recoveryCodes[0] }, guard);
    expect((await answer().expect(401)).body).toEqual({ message: TEXT });
    suspended.clear();
    await answer().expect(200);
  });

  it('can sign in again when the host allows it', async () => {
    suspend();
    await t.login(ADA, PASSWORD, guard).expect(401);
    suspended.clear();
    const session = await t.session(ADA, guard);
    await t.refresh(session.refresh_token, guard).expect(200);
  });
});

describe('a deleted user', () => {
  it.each(['api', 'admin'])('of the guard %s gets 401 at a refresh, and the session ends', async (guard) => {
    const t = await TestApp.start();
    try {
      const id = await t.person(ADA, guard);
      const ended = t.recorded(SessionEnded);
      const session = await t.session(ADA, guard);
      await t.database.query(`DELETE FROM ${guard === 'api' ? 'people' : 'operators'} WHERE id = $1`, [id]);
      await t.refresh(session.refresh_token, guard).expect(401);
      expect(ended).toMatchObject([{ reason: 'disabled', userId: id }]);
      const rows = await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL');
      expect(rows).toEqual([]);
      await t.login(ADA, PASSWORD, guard).expect(422);
      await expect(t.auth.guard(guard).startSession(id)).rejects.toBeInstanceOf(Unauthenticated);
    } finally {
      await t.stop();
    }
  });

  it('with a soft delete gets 401 at a refresh, also when many sessions refresh at once', async () => {
    const t = await TestApp.start({ options: memberOptions(new Mailbox(), {}) });
    try {
      const ids = await Promise.all(['a', 'b', 'c'].map((name) => member(t, `${name}@example.com`)));
      const sessions = await Promise.all(['a', 'b', 'c'].map((name) => t.session(`${name}@example.com`)));
      await t.database.getRepository(Member).softDelete(ids[1]!);
      const statuses = await Promise.all(
        sessions.map(async ({ refresh_token }) => (await t.refresh(refresh_token)).status),
      );
      expect(statuses).toEqual([200, 401, 200]);
    } finally {
      await t.stop();
    }
  });
});

describe('hooks.canSignIn', () => {
  const passkeys = PasskeyApp.forFile({
    hooks: { canSignIn },
    features: { twoFactor: true },
  });
  const { t } = passkeys;
  const id = '1';

  it('is asked at a login challenge, and the refused login starts no session', async () => {
    const { secret } = await enrol(t);
    const challenge = await startChallenge(t);
    suspended.add(`api:${id}`);
    const { body } = await t.http
      .post('/auth/two-factor-challenge')
      .send({ challenge_token: challenge, code: codeOf(t, secret) })
      .expect(401);
    expect(body).toEqual({ message: TEXT });
  });

  it('is asked at a sign-in with a passkey', async () => {
    const authenticator = new SoftAuthenticator(ORIGIN);
    await passkeys.enrol(await passkeys.confirmed(), authenticator);
    await passkeys.signIn(authenticator);
    suspended.add(`api:${id}`);
    const { status, body } = await passkeys.attempt(authenticator);
    expect([status, body]).toEqual([401, { message: TEXT }]);
  });

  it('fails the request without any effect when it throws', async () => {
    const session = await t.session();
    faulty = () => {
      throw new Error('of the host');
    };
    await t.refresh(session.refresh_token).expect(500);
    await t.login(ADA).expect(500);
    faulty = undefined;
    await t.refresh(session.refresh_token).expect(200);
    expect(await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL')).toHaveLength(1);
  });

  it.each([undefined, null, 0, 1, 'no'])('fails without any effect when it returns %p', async (answer) => {
    const session = await t.session();
    faulty = () => answer;
    await t.login(ADA).expect(500);
    await t.refresh(session.refresh_token).expect(500);
    faulty = undefined;
    await t.refresh(session.refresh_token).expect(200);
  });

  it('consumes neither a challenge nor its factor when it refuses or throws', async () => {
    const { recoveryCodes } = await enrol(t);
    const challenge = await startChallenge(t);
    const answer = () =>
      t.http.post('/auth/two-factor-challenge').send({ challenge_token: challenge, recovery_code: recoveryCodes[0] });
    suspended.add(`api:${id}`);
    await answer().expect(401);
    suspended.clear();
    faulty = () => {
      throw new Error('of the host');
    };
    await answer().expect(500);
    faulty = undefined;
    await answer().expect(200);
  });

  it('is asked before other hooks and before a refresh changes anything', async () => {
    const session = await t.session();
    const before = await t.database.query('SELECT generation FROM svc_sessions');
    faulty = () => {
      throw new Error('of the host');
    };
    await t.refresh(session.refresh_token).expect(500);
    expect(await t.database.query('SELECT generation FROM svc_sessions')).toEqual(before);
  });

  it('is asked in the grace period, too', async () => {
    const session = await t.session();
    await t.refresh(session.refresh_token).expect(200);
    suspended.add(`api:${id}`);
    await t.refresh(session.refresh_token).expect(401);
    suspended.clear();
    await t.refresh(session.refresh_token).expect(401);
  });
});

describe('a refused sign-in', () => {
  const t = TestApp.forFile({ options: { hooks: { canSignIn }, sessions: { maxPerUser: 1 } } });

  it('ends no other session of the user', async () => {
    await t.person(ADA);
    const session = await t.session();
    suspended.add('api:1');
    await t.login(ADA).expect(401);
    faulty = () => {
      throw new Error('of the host');
    };
    await t.login(ADA).expect(500);
    await t.get('/private', session.access_token).expect(200);
  });
});

describe('users whose ids the statement of a refresh cannot read', () => {
  it.each([
    ['19 digits', BigId, 'big_ids', '1234567890123456789'],
    [
      'another type in the database than in the entity',
      TextAsUuid,
      'text_as_uuids',
      '0b0ae1a2-5a0f-4b5b-9f0e-3f0a6c0d1e2f',
    ],
  ])('refresh and end like others: %s', async (_, entity, table, id) => {
    const type = table === 'big_ids' ? 'bigint' : 'varchar(36)';
    const tables = `CREATE TABLE ${table} (id ${type} PRIMARY KEY, email text UNIQUE, password_hash text)`;
    const t = await TestApp.start({ options: { users: { entity } }, entities: [entity], tables, controllers: [] });
    try {
      await t.database.query(`INSERT INTO ${table} (id, email) VALUES ($1, $2)`, [id, ADA]);
      const { refreshToken } = await t.auth.startSession(id);
      const { body } = await t.refresh(refreshToken).expect(200);
      await t.refresh(body.refresh_token).expect(200);
      await t.database.query(`DELETE FROM ${table}`);
      await t.refresh(body.refresh_token).expect(401);
    } finally {
      await t.stop();
    }
  });
});

describe('a registration whose user may not sign in yet', () => {
  const mailbox = new Mailbox();
  const t = TestApp.forFile(() => ({ options: memberOptions(mailbox, { hooks: { canSignIn: () => false } }) }));

  it('creates the account without a session', async () => {
    const fields = { name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
    const { body } = await t.http.post('/auth/register').send(fields).expect(201);
    expect(body).toEqual({ registered: true, requires_verification: false });
    await t.login(ADA).expect(401);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });
});

describe('auth.revokeEverything()', () => {
  const t = TestApp.forFile();

  it('ends every session of the guard, in pages, and no session of another guard', async () => {
    const ended = t.recorded(SessionEnded);
    await t.person(ADA);
    await t.person(ADA, 'admin');
    const [own, staff] = [await t.session(), await t.session(ADA, 'admin')];
    await t.database.query(`
      INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
      SELECT gen_random_uuid(), 'api', n::text, '', now(), now() + interval '1 day', now(), now()
        FROM generate_series(100, 1399) n`);
    expect(await t.auth.revokeEverything()).toBe(1301);
    expect(ended.map(({ guard, reason }) => `${guard} ${reason}`)).toEqual(Array(1301).fill('api revoked'));
    expect(await t.database.query("SELECT 1 FROM svc_sessions WHERE guard = 'api' AND revoked_at IS NULL")).toEqual([]);
    await t.get('/private', own.access_token).expect(401);
    await t.refresh(own.refresh_token).expect(401);
    await t.get('/staff', staff.access_token).expect(200);
    await t.refresh(staff.refresh_token, 'admin').expect(200);
    expect(await t.auth.revokeEverything()).toBe(0);
  });

  it('continues when a store is available again', async () => {
    await t.database.query(`
      INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
      SELECT gen_random_uuid(), 'api', n::text, '', now(), now() + interval '1 day', now(), now()
        FROM generate_series(1, 1001) n`);
    const store = t.app.get(SecurityStore);
    const setMany = store.setMany.bind(store);
    let pages = 0;
    jest.spyOn(store, 'setMany').mockImplementation(async (keys, ...rest) => {
      if (keys.length > 1 && ++pages === 2) throw new StoreUnavailable('Redis');
      return setMany(keys, ...rest);
    });
    expect(await t.auth.revokeEverything()).toBe(1001);
    jest.restoreAllMocks();
    expect(await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL')).toEqual([]);
  });

  it('fails at once if a store is unavailable from the start', async () => {
    await t.person(ADA);
    await t.session();
    jest.spyOn(t.app.get(SecurityStore), 'setMany').mockRejectedValue(new StoreUnavailable('Redis'));
    await expect(t.auth.revokeEverything()).rejects.toBeInstanceOf(StoreUnavailable);
    jest.restoreAllMocks();
  });

  it('does not read the sessions of earlier pages again', async () => {
    const sessions = `
      INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
      SELECT gen_random_uuid(), 'api', n::text, '', now(), now() + interval '1 day', now(), now()
        FROM generate_series(1, 5010) n`;
    await fillAnew(t.database, 'svc_sessions', () => t.database.query(sessions));
    const { statements, stop } = recordStatements();
    expect(await t.auth.revokeEverything()).toBe(5010);
    stop();
    const last = statements.findLast(({ text }) => text.includes('SET revoked_at'))!;
    expect(await shareOfIndexRead(t.databaseUrl, last, 'svc_sessions_live')).toBeLessThan(0.25);
  });
});
