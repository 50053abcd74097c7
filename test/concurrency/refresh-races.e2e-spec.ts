import { TestApp } from '../support/app';
import { type Answer, type HostProcess, send, startProcesses } from '../support/processes';
import { describeWithRedis, sharedRedisUrl } from '../support/with-redis';

const ROUNDS = 200;
const PARALLEL = 50;

const statuses = (answers: Answer[]): number[] => [...new Set(answers.map(({ status }) => status))];

describeWithRedis('two processes on one PostgreSQL and one Redis', () => {
  let t: TestApp;
  let nodes: HostProcess[] = [];

  const run = async (options: object): Promise<void> => {
    nodes = await startProcesses(2, { databaseUrl: t.databaseUrl, redisUrl: sharedRedisUrl()! }, options);
  };
  const node = (i: number): string => nodes[i % nodes.length]!.url;
  const refresh = (token: string, i: number): Promise<Answer> =>
    send(`${node(i)}/auth/refresh`, 'POST', { refresh_token: token });

  beforeAll(async () => {
    t = await TestApp.start();
    await t.person('ada@example.com');
  });
  afterEach(() => nodes.forEach((process) => process.stop()));
  afterAll(() => t.stop());

  it(`answer ${PARALLEL} parallel refreshes of one token with 200 each, and every token returned works once more`, async () => {
    await run({});
    for (let round = 0; round < ROUNDS; round++) {
      const { refreshToken } = await t.auth.startSession(1);
      const answers = await Promise.all(Array.from({ length: PARALLEL }, (_, i) => refresh(refreshToken, i)));
      expect(statuses(answers)).toEqual([200]);
      const returned = answers.map(({ body }) => body.refresh_token!);
      expect(new Set(returned).size).toBe(PARALLEL);
      expect(statuses(await Promise.all(returned.map(refresh)))).toEqual([200]);
    }
    const [{ killed }] = await t.database.query('SELECT count(revoked_at)::int AS killed FROM svc_sessions');
    expect(killed).toBe(0);
  }, 300_000);

  it('without grace, let exactly one of 50 parallel refreshes through', async () => {
    await run({ graceSeconds: 0 });
    for (let round = 0; round < 50; round++) {
      const { refreshToken } = await t.auth.startSession(1);
      const answers = await Promise.all(Array.from({ length: PARALLEL }, (_, i) => refresh(refreshToken, i)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(statuses(answers).toSorted()).toEqual([200, 401]);
    }
  }, 120_000);
});
