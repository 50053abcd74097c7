import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/app';

describe('a host`s own login', () => {
  const authenticate = async (request: unknown): Promise<{ id: number } | null> => {
    const { ticket } = (request as { body: { ticket?: string } }).body;
    if (ticket === 'throw') throw new Error('no such ticket');
    return ticket ? { id: Number(ticket) } : null;
  };
  let t: TestApp;
  const login = (ticket: string | undefined, email?: string) => t.http.post('/auth/login').send({ email, ticket });

  beforeEach(async () => {
    t = await TestApp.start({
      options: { features: { lockout: true }, lockout: { maxAttempts: 3 }, hooks: { authenticate } },
    });
    await t.person('ada@example.com');
    await t.person('bob@example.com');
  });
  afterEach(() => t.stop());

  it('is locked like any other, also where it refuses with a throw', async () => {
    await login(undefined, 'ada@example.com').expect(422);
    await login('throw', 'ada@example.com').expect(500);
    await login(undefined, 'ada@example.com').expect(422);
    await login('1', 'ada@example.com').expect(423);
    await login('1').expect(200);
  });

  it.each([[undefined], [false], [0], ['']])('refuses with %j as with null', async (nothing) => {
    const loose = await TestApp.start({
      options: {
        hooks: { authenticate: async () => nothing as never },
        rateLimits: { login: { maxAttempts: 3, ipMaxAttempts: 1e9 } },
      },
    });
    const email = `${randomUUID()}@example.com`;
    for (let i = 0; i < 3; i++) await loose.http.post('/auth/login').send({ email }).expect(422);
    await loose.http.post('/auth/login').send({ email }).expect(429);
    await loose.stop();
  });

  it('clears nobody`s failures with a ticket of another', async () => {
    await login(undefined, 'ada@example.com').expect(422);
    await login('2', 'ada@example.com').expect(422);
    await login('2', 'ada@example.com').expect(422);
    await login('1', 'ada@example.com').expect(423);
    await login('2', 'bob@example.com').expect(200);
  });
});
