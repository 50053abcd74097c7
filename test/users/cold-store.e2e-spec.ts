import { AuthModule, PasswordHasher, type StoredCredentials, UserProvider } from '@svc/auth';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { startHost } from '../support/hosts/adapter';
import { hostOptions } from '../support/hosts/host.module';
import { send } from '../support/hosts/processes';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { createDatabase } from '../support/stores/database';

const USER = { id: '7' };

/** A store that does something at its first query, as an ORM that loads its engine and connects. */
class ColdUsers extends UserProvider<typeof USER> {
  passwordHash: string | null = null;
  isWarm = false;
  private warming?: Promise<void>;

  constructor(private readonly warmUp: () => Promise<unknown>) {
    super();
  }

  private async answer<T>(value: T): Promise<T> {
    await (this.warming ??= this.warmUp().then(() => void (this.isWarm = true)));
    return value;
  }

  findById = (id: string) => this.answer(id === USER.id ? USER : null);
  findByIdentifier = (identifier: string): Promise<StoredCredentials<typeof USER> | null> =>
    this.answer(identifier === ADA ? { user: USER, passwordHash: this.passwordHash } : null);
  passwordHashOf = () => this.answer(this.passwordHash);
  savePasswordHash = async () => true;
  idOf = ({ id }: typeof USER) => id;
  override identifierOf = () => ADA;
  override delete = async () => true;
}

describe('an application with a user store that is cold', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let pool: Pool;

  beforeAll(async () => {
    database = await createDatabase();
    pool = new Pool({ connectionString: database.url });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  async function start(warmUp: () => Promise<unknown>) {
    const users = new ColdUsers(warmUp);
    const { guards: _guards, ...options } = hostOptions({ pool, users: { provider: { useFactory: () => users } } });
    const app = await startHost({ module: class Host {}, imports: [AuthModule.forRoot(options)] });
    users.passwordHash = await app.get(PasswordHasher).hash(PASSWORD);
    const login = async () =>
      (await send(`${await app.getUrl()}/auth/login`, 'POST', { email: ADA, password: PASSWORD })).status;
    return { users, app, login };
  }

  it('listens after the store has answered once, so that no request waits for its first query', async () => {
    const { users, app, login } = await start(() => sleep(100));
    expect(users.isWarm).toBe(true);
    expect(await login()).toBe(200);
    await app.close();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['fails', async () => Promise.reject(new Error('no engine'))],
    ['does not answer', () => new Promise(() => undefined)],
  ])('starts nevertheless if the store %s', async (_, warmUp) => {
    const { users, app } = await start(warmUp);
    expect(users.isWarm).toBe(false);
    await app.close();
  });
});
