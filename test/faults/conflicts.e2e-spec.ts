import { AccountDeleted, SessionEnded, SessionStarted, UserProvider } from '@svc/auth';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { DataSource, type EntityManager, type EntitySubscriberInterface } from 'typeorm';
import { claimsOf } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { type Conflicts, causeConflicts } from '../support/faults/failing-statements';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { confirmationTokenOf } from '../support/flows/step-up';
import { ADA, Member, PASSWORD } from '../support/hosts/user-entities';

const NEXT = 'another horse entirely';
const NEWCOMER = {
  name: 'Bob',
  email: 'bob@example.com',
  password: NEXT,
  password_confirmation: NEXT,
};

describe.each([
  ['a serialization failure', '40001'],
  ['a deadlock', '40P01'],
])('work that PostgreSQL rolls back because of %s', (_, code) => {
  const { t, mailbox } = membersForFile({ features: { lockout: true }, sessions: { maxPerUser: 1 } });
  let conflicts: Conflicts | undefined;
  const cause = async (...[count, kind, atCommit]: [count: number, kind: string, atCommit?: boolean]) => {
    conflicts = await causeConflicts(t, count, kind, code, atCommit);
  };
  beforeEach(() => member(t, ADA));
  afterEach(async () => {
    await conflicts?.end();
    conflicts = undefined;
  });

  it('at a login is repeated: one session starts', async () => {
    const started = t.recorded(SessionStarted);
    await cause(2, 'INSERT ON svc_sessions');
    const { access_token: token } = await t.session();
    await t.get('/private', token).expect(200);
    expect(started).toHaveLength(1);
    expect(await t.database.query('SELECT count(*)::int AS n FROM svc_sessions')).toEqual([{ n: 1 }]);
  });

  it('at the commit of a login is repeated: one session starts, and one is ended by the cap', async () => {
    const former = await t.session();
    const [started, ended] = [t.recorded(SessionStarted), t.recorded(SessionEnded)];
    await cause(1, 'INSERT ON svc_sessions', true);
    const { access_token: token } = await t.session();
    await t.get('/private', token).expect(200);
    await t.get('/private', former.access_token).expect(401);
    expect([started.length, ended.length]).toEqual([1, 1]);
  });

  it('at a guarded request is repeated', async () => {
    const { access_token: token } = await t.session();
    const query = Client.prototype.query as (...args: unknown[]) => Promise<unknown>;
    let left = 2;
    jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
      const { text } = args[0] as { text?: string };
      if (!text?.includes('svc_ended') || left-- <= 0) return query.apply(this, args) as never;
      return Promise.reject(Object.assign(new Error('a conflict'), { code })) as never;
    });
    await t.get('/private', token).expect(200);
    expect(left).toBeLessThan(1);
  });

  it('at a refresh is repeated: the token is replaced once', async () => {
    const { refresh_token: token } = await t.session();
    await cause(2, 'UPDATE ON svc_sessions');
    const { body } = await t.refresh(token).expect(200);
    expect(await t.database.query('SELECT generation, holders FROM svc_sessions')).toEqual([
      { generation: 1, holders: 1 },
    ]);
    await t.refresh(body.refresh_token).expect(200);
  });

  it('at a logout is repeated', async () => {
    const { access_token: token } = await t.session();
    const ended = t.recorded(SessionEnded);
    await cause(2, 'UPDATE ON svc_sessions');
    await t.call('post', '/auth/logout', token).expect(204);
    await t.get('/private', token).expect(401);
    expect(ended).toHaveLength(1);
  });

  it('at a failed login is repeated: the failure is counted once', async () => {
    await cause(2, 'INSERT ON svc_lockouts');
    await t.login(ADA, 'wrong').expect(422);
    expect(await t.database.query('SELECT attempts FROM svc_lockouts')).toEqual([{ attempts: 1 }]);
  });

  it('at a registration is repeated: one account is created, and one mail is sent', async () => {
    await cause(2, 'INSERT ON members');
    await t.http.post('/auth/register').send(NEWCOMER).expect(200);
    await t.login(NEWCOMER.email, NEXT).expect(200);
    await t.calm();
    expect(mailbox.mails.filter(({ to }) => to === NEWCOMER.email)).toHaveLength(1);
  });

  it('at a change of the password is repeated', async () => {
    const { access_token: token } = await t.session();
    await cause(2, 'UPDATE ON members');
    const body = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };
    await t.call('post', '/auth/password', token).send(body).expect(200);
    await t.login(ADA, NEXT).expect(200);
  });

  it('at a reset of the password is repeated: the link is used once', async () => {
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await mailbox.to(ADA)).searchParams.get('token');
    await cause(2, 'UPDATE ON svc_password_resets');
    const reset = () =>
      t.http.post('/auth/reset-password').send({ email: ADA, token, password: NEXT, password_confirmation: NEXT });
    await reset().expect(200);
    await reset().expect(422);
    await t.login(ADA, NEXT).expect(200);
  });

  it('at the deletion of an account is repeated', async () => {
    const { access_token: token } = await t.session();
    const deleted = t.recorded(AccountDeleted);
    const proof = await confirmationTokenOf(t, token);
    await cause(2, 'DELETE ON members');
    await t.call('delete', '/auth/account', token).set('X-Svc-Confirmation', proof).expect(204);
    expect(await t.database.query('SELECT count(*)::int AS n FROM members')).toEqual([{ n: 0 }]);
    expect(deleted).toHaveLength(1);
  });

  it('is not repeated if a subscriber of the host was called: the answer is 503', async () => {
    const beforeInsert = jest.fn();
    const subscriber: EntitySubscriberInterface<Member> = { beforeInsert, listenTo: () => Member };
    t.database.subscribers.push(subscriber);
    try {
      await cause(1, 'INSERT ON members');
      const register = () => t.http.post('/auth/register').send(NEWCOMER);
      await register().expect(503).expect('Retry-After', '1');
      expect(beforeInsert).toHaveBeenCalledTimes(1);
      await register().expect(200);
    } finally {
      t.database.subscribers.splice(t.database.subscribers.indexOf(subscriber), 1);
    }
  });
});

describe('work that PostgreSQL rolls back at every attempt', () => {
  const { t } = membersForFile({ storeTimeoutMs: 50_000 });

  it('is answered 503 at the deadline of the request, and consumes nothing', async () => {
    await member(t, ADA);
    const { refresh_token: token } = await t.session();
    const conflicts = await causeConflicts(t, 1e9, 'UPDATE ON svc_sessions');
    const answer = t.refresh(token).expect(503).expect('Retry-After', '1');
    const answered = answer.then(() => true);
    await eventually(async () => (await conflicts.attempts()) > 1);
    // The deadline passes.
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    await answered;
    // Requests share the exchange, which may make a last attempt. The pause is longer than that between two attempts.
    let attempts = 0;
    await eventually(async () => {
      const before = await conflicts.attempts();
      await sleep(500);
      attempts = await conflicts.attempts();
      return attempts === before;
    });
    await sleep(500);
    expect(await conflicts.attempts()).toBe(attempts);
    clock.mockRestore();
    await conflicts.end();
    await t.refresh(token).expect(200);
    expect(await t.database.query('SELECT generation FROM svc_sessions')).toEqual([{ generation: 1 }]);
  });
});

describe('a deletion of an account with hooks.deleteUser', () => {
  const deleteUser = jest.fn();
  const { t } = membersForFile({ hooks: { deleteUser } });

  it('calls the hook once, also if PostgreSQL rolls it back because of a conflict', async () => {
    await member(t, ADA);
    const { access_token: token } = await t.session();
    const proof = await confirmationTokenOf(t, token);
    const conflicts = await causeConflicts(t, 1, 'DELETE ON members');
    deleteUser.mockImplementation(async ({ id }: Member, { manager }) => manager.delete(Member, id));
    await t.call('delete', '/auth/account', token).set('X-Svc-Confirmation', proof).expect(503);
    await conflicts.end();
    expect(deleteUser).toHaveBeenCalledTimes(1);
    await t.login(ADA).expect(200);
  });
});

/** A user provider of the host on the table of an entity. */
class Members extends UserProvider<Member> {
  deletions = 0;

  constructor(private readonly source: DataSource) {
    super();
  }

  findById = (id: string) => this.source.getRepository(Member).findOneBy({ id });
  findByIdentifier = async (email: string) => {
    const user = await this.source.getRepository(Member).findOneBy({ email });
    return user && { user, passwordHash: await this.passwordHashOf(user.id) };
  };
  passwordHashOf = async (id: string): Promise<string | null> => {
    const [row] = await this.source.query('SELECT password_hash FROM members WHERE id = $1', [id]);
    return row?.password_hash ?? null;
  };
  savePasswordHash = async () => undefined;
  idOf = ({ id }: Member) => id;
  override identifierOf = ({ email }: Member) => email;
  override comparedForm = (identifier: string) => identifier;
  override async delete(id: string, manager: EntityManager): Promise<boolean> {
    this.deletions++;
    return (await manager.delete(Member, id)).affected === 1;
  }
}

describe('a deletion of an account by a user provider of the host', () => {
  const features = { registration: false, passwordReset: false, emailVerification: false };
  let members: Members;
  const provider = { inject: [DataSource], useFactory: (source: DataSource) => (members = new Members(source)) };
  const { t } = membersForFile({ users: { entity: Member, provider }, features });

  it('runs once, also if the option users has an entity and PostgreSQL rolls it back because of a conflict', async () => {
    await member(t, ADA);
    const { access_token: token } = await t.session();
    const proof = await confirmationTokenOf(t, token);
    const conflicts = await causeConflicts(t, 1, 'DELETE ON members');
    await t.call('delete', '/auth/account', token).set('X-Svc-Confirmation', proof).expect(503);
    await conflicts.end();
    expect(members.deletions).toBe(1);
    await t.login(ADA).expect(200);
  });
});

describe('a database whose default isolation level is REPEATABLE READ', () => {
  const { t, mailbox } = membersForFile(
    { storeTimeoutMs: 20_000 },
    { pool: { options: '-c default_transaction_isolation=repeatable\\ read' } },
  );

  it('verifies an address although the host changes the user at the same time', async () => {
    await member(t, ADA);
    const { access_token: token } = await t.session();
    await t.call('post', '/auth/email/verification-notification', token).expect(202);
    const { pathname, search } = linkIn(await mailbox.to(ADA));
    const host = new Client({ connectionString: t.databaseUrl });
    await host.connect();
    await host.query("BEGIN; UPDATE members SET role = 'admin'");
    const verified = t
      .get(pathname + search)
      .set('Accept', 'application/json')
      .then(({ status }) => status);
    await eventually(async () => {
      const { rows } = await host.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await host.query('COMMIT');
    await host.end();
    expect(await verified).toBe(204);
    const [user] = await t.database.query('SELECT role, email_verified_at IS NOT NULL AS verified FROM members');
    expect(user).toEqual({ role: 'admin', verified: true });
    expect(claimsOf(token).sub).toBeDefined();
  });
});
