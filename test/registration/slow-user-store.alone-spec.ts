import { type NewAccount, UserProvider } from '@svc/auth';
import { Client } from 'pg';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { HELD_MS, StoreTimeouts } from '../support/faults/store-timeouts';
import { PASSWORD } from '../support/hosts/user-entities';

const FORM = { name: 'Ada', email: 'ada@example.com', password: PASSWORD, password_confirmation: PASSWORD };

interface Known {
  id: string;
  email: string;
  passwordHash: string | null;
  at: number;
}

/** A user store in memory that never answers one of its methods. */
class Silent extends UserProvider<Known> {
  static at = '';
  private readonly known: Known[] = [];

  private answer<T>(question: string, value: T): Promise<T> {
    return Silent.at === question ? new Promise(() => undefined) : Promise.resolve(value);
  }

  findById = (id: string) => this.answer('findById', this.known.find((user) => user.id === id) ?? null);
  findByIdentifier = () => this.answer('findByIdentifier', null);
  passwordHashOf = async (id: string) => this.known.find((user) => user.id === id)?.passwordHash ?? null;
  savePasswordHash = async () => undefined;
  idOf = ({ id }: Known) => id;
  override identifierOf = ({ email }: Known) => email;
  override create = ({ identifier, passwordHash }: NewAccount) =>
    this.answer('create', this.add(identifier, passwordHash));
  override currentMark = () => this.answer('mark', String(performance.now()));
  override wasCreatedSince = (id: string, mark: string) =>
    this.answer(
      'wasCreatedSince',
      this.known.some((user) => user.id === id && user.at >= Number(mark)),
    );

  add(email: string, passwordHash: string | null = null): Known {
    const user = { id: randomUUID(), email, passwordHash, at: performance.now() };
    this.known.push(user);
    return user;
  }
}

/** The status of the answer after one timeout for all store calls of the request. */
const inTime = async (t: TestApp, work: () => PromiseLike<{ status: number }>): Promise<number> =>
  (await StoreTimeouts.of(t.app).during(work)).status;

const NEXT = 'another horse entirely';
const NEW = { password: NEXT, password_confirmation: NEXT };

const storeTimeoutMs = HELD_MS;

describe.each<[string, boolean, [question: string, calls: number][]]>([
  [
    'by the library',
    false,
    [
      ['findByIdentifier', 0],
      ['create', 0],
    ],
  ],
  [
    'by the host',
    true,
    [
      ['findByIdentifier', 0],
      ['mark', 0],
      ['findById', 1],
      ['wasCreatedSince', 1],
    ],
  ],
])('a registration %s when the user store does not answer', (_, byHost, questions) => {
  const users = new Silent();
  let calls = 0;
  const t = TestApp.forFile({
    options: {
      users: { provider: { useFactory: () => users } },
      features: { registration: true, accountDeletion: false },
      storeTimeoutMs,
      hooks: byHost ? { register: async ({ email }) => (calls++, users.add(String(email))) } : {},
    },
  });

  it.each(questions)('answers 503 after one timeout at %s', async (question, called) => {
    calls = 0;
    Silent.at = question;
    expect(await inTime(t, () => t.http.post('/auth/register').send(FORM))).toBe(503);
    expect(calls).toBe(called);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
    Silent.at = '';
    await t.http
      .post('/auth/register')
      .send({ ...FORM, email: 'grace@example.com' })
      .expect(200);
  });
});

describe('a request to a user store that does not answer', () => {
  const { t, mailbox } = membersForFile({ storeTimeoutMs });

  it('answers 503 after one timeout to a registration, which is not completed later', async () => {
    const other = new Client({ connectionString: t.databaseUrl });
    await other.connect();
    // This open transaction blocks the unique index on the address.
    await other.query(`BEGIN; INSERT INTO members (name, email) VALUES ('x', '${FORM.email}')`);
    expect(await inTime(t, () => t.http.post('/auth/register').send(FORM))).toBe(503);
    await other.query('ROLLBACK');
    expect(await t.database.query('SELECT 1 FROM members')).toEqual([]);
    await t.http.post('/auth/register').send(FORM).expect(200);
    await other.end();
  });

  /** Stores the next password, and never answers. */
  const saveWithoutAnswer = (): void => {
    const users = t.app.get(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await save(...args);
      return new Promise(() => undefined);
    });
  };

  it('answers 503 after one timeout to a change of password', async () => {
    await member(t, ADA);
    const { access_token: token } = await t.session();
    saveWithoutAnswer();
    const change = () => t.call('post', '/auth/password', token).send({ current_password: PASSWORD, ...NEW });
    expect(await inTime(t, change)).toBe(503);
  });

  it('answers 503 after one timeout to a reset of a password', async () => {
    await member(t, ADA);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token');
    saveWithoutAnswer();
    const reset = () => t.http.post('/auth/reset-password').send({ token, email: ADA, ...NEW });
    expect(await inTime(t, reset)).toBe(503);
  });
});
