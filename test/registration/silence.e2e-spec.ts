import { type NewAccount, UserProvider } from '@svc/auth';
import { Client } from 'pg';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/app';
import { startMembers } from '../support/members';
import { PASSWORD } from '../support/people';

const FORM = { name: 'Ada', email: 'ada@example.com', password: PASSWORD, password_confirmation: PASSWORD };

interface Known {
  id: string;
  email: string;
  at: number;
}

/** Users in memory, one of whose questions is never answered. */
class Silent extends UserProvider<Known> {
  static at = '';
  private readonly known: Known[] = [];

  private answer<T>(question: string, value: T): Promise<T> {
    return Silent.at === question ? new Promise(() => undefined) : Promise.resolve(value);
  }

  findById = (id: string) => this.answer('findById', this.known.find((user) => user.id === id) ?? null);
  findByIdentifier = () => this.answer('findByIdentifier', null);
  passwordHashOf = async () => null;
  savePasswordHash = async () => undefined;
  idOf = ({ id }: Known) => id;
  override identifierOf = ({ email }: Known) => email;
  override createsAccounts = () => true;
  override create = ({ identifier }: NewAccount) => this.answer('create', this.add(identifier));
  override tellsNewAccounts = () => true;
  override mark = () => this.answer('mark', String(performance.now()));
  override isNewerThan = (id: string, mark: string) =>
    this.answer(
      'isNewerThan',
      this.known.some((user) => user.id === id && user.at >= Number(mark)),
    );

  add(email: string): Known {
    const user = { id: randomUUID(), email, at: performance.now() };
    this.known.push(user);
    return user;
  }
}

const answersIn = async (work: () => PromiseLike<{ status: number }>): Promise<[number, boolean]> => {
  const start = performance.now();
  const { status } = await work();
  return [status, performance.now() - start < 1000];
};

describe('a registration whose users do not answer', () => {
  let t: TestApp;
  let calls = 0;
  afterEach(() => t.stop());

  const start = async (byHost: boolean): Promise<void> => {
    calls = 0;
    const users = new Silent();
    t = await TestApp.start({
      options: {
        users: { provider: { useFactory: () => users } },
        features: { registration: true, accountDeletion: false },
        // The default leaves a slow machine too little of the second.
        storeTimeoutMs: 500,
        hooks: byHost ? { register: async ({ email }) => (calls++, users.add(String(email))) } : {},
      },
    });
  };

  it.each<[string, boolean, number]>([
    ['findByIdentifier', false, 0],
    ['create', false, 0],
    ['findByIdentifier', true, 0],
    ['mark', true, 0],
    ['findById', true, 1],
    ['isNewerThan', true, 1],
  ])('is 503 within a second at %s (by the host: %s)', async (question, byHost, called) => {
    await start(byHost);
    Silent.at = question;
    expect(await answersIn(() => t.http.post('/auth/register').send(FORM))).toEqual([503, true]);
    expect(calls).toBe(called);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
    Silent.at = '';
    await t.http
      .post('/auth/register')
      .send({ ...FORM, email: 'grace@example.com' })
      .expect(200);
  });
});

describe('a registration that the database keeps waiting', () => {
  it('is 503 within a second, and does not happen later', async () => {
    const { t } = await startMembers();
    const other = new Client({ connectionString: t.databaseUrl });
    await other.connect();
    // Whether the address is taken is not decided before this is.
    await other.query(`BEGIN; INSERT INTO members (name, email) VALUES ('x', '${FORM.email}')`);
    expect(await answersIn(() => t.http.post('/auth/register').send(FORM))).toEqual([503, true]);
    await other.query('ROLLBACK');
    expect(await t.database.query('SELECT 1 FROM members')).toEqual([]);
    await t.http.post('/auth/register').send(FORM).expect(200);
    await other.end();
    await t.stop();
  });
});
