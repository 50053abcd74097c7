import { type SignedInOperator, act, operatorOptions, operatorSession, resetGranted } from '../support/flows/operators';
import { TestApp } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { PostgresServer } from '../support/stores/postgres';

const KILLS = Number(process.env.ENGINE_KILLS ?? 3);
const USERS = 6;

describe('the trail of a PostgreSQL whose server process is killed with SIGKILL', () => {
  let postgres: PostgresServer;
  let t: TestApp;
  let operator: SignedInOperator;

  beforeAll(async () => {
    postgres = await PostgresServer.start();
    const options = operatorOptions({
      features: { audit: true },
      encryption: { key: 'an encryption key of a test, long enough' },
    });
    t = await TestApp.start({ databaseUrl: postgres.url, options });
    resetGranted();
    for (let n = 0; n < USERS; n++) await t.person(`user-${n}@example.com`);
    await t.person('root@example.com', 'admin');
    operator = await operatorSession(t);
  });
  afterAll(async () => {
    await t?.stop();
    await postgres?.remove();
  });

  /** Sessions start and end, and a user is suspended and restored, until it is told to stop. Every answer is accepted. */
  const works = (user: number, isOver: () => boolean, done: () => void): Promise<void>[] => {
    const repeated = async (work: () => PromiseLike<unknown>): Promise<void> => {
      while (!isOver()) {
        await Promise.resolve(work()).catch(() => undefined);
        done();
      }
    };
    if (user === 0)
      return [
        repeated(async () => {
          await act(t, operator, '1', 'suspend');
          await act(t, operator, '1', 'restore');
        }),
      ];
    return [
      repeated(async () => {
        const { body } = await t.login(`user-${user}@example.com`);
        if (body.access_token) await t.call('post', '/auth/logout', body.access_token);
      }),
      repeated(() => t.auth.revokeAll(String(user + 1))),
    ];
  };

  const rows = <Row>(sql: string): Promise<Row[]> => t.database.query(sql) as Promise<Row[]>;

  /**
   * Sessions and suspensions without their line, and lines without theirs. A session has no row if its start failed after it was
   * stored; then it has ended, as discarded or, before that, by a revocation.
   */
  const faults = () =>
    rows(`
      WITH lines AS (SELECT session_id, user_id, operation, reason, id FROM svc_audit),
           sessions AS (SELECT id::text AS id, revoked_at FROM svc_sessions WHERE user_id <> ''),
           acted AS (SELECT DISTINCT ON (user_id) user_id, reason FROM lines
                      WHERE operation = 'auth.operator.acted' AND reason IN ('suspend', 'restore') ORDER BY user_id, id DESC)
      SELECT 'no start' AS fault, id FROM sessions s
       WHERE (SELECT count(*) FROM lines WHERE session_id = s.id AND operation = 'auth.session.started') <> 1
      UNION ALL SELECT 'ends', id FROM sessions s
       WHERE (SELECT count(*) FROM lines WHERE session_id = s.id AND operation = 'auth.session.ended') <> (revoked_at IS NOT NULL)::int
      UNION ALL SELECT 'no session', session_id FROM lines l WHERE operation = 'auth.session.started'
         AND NOT EXISTS (SELECT FROM sessions WHERE id = l.session_id)
         AND (SELECT count(*) FROM lines WHERE session_id = l.session_id AND operation = 'auth.session.ended') <> 1
      UNION ALL SELECT 'suspension', user_id FROM acted a
       WHERE EXISTS (SELECT FROM svc_suspensions WHERE user_id = a.user_id) <> (reason = 'suspend')
      UNION ALL SELECT 'no suspension line', user_id FROM svc_suspensions s WHERE NOT EXISTS (SELECT FROM acted WHERE user_id = s.user_id)`);

  it('has a line for each session that starts or ends and each suspension, and none without it', async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      let [isOver, count] = [false, 0];
      const running = Array.from({ length: USERS }, (_, user) =>
        works(
          user,
          () => isOver,
          () => void count++,
        ),
      ).flat();
      // In the middle of the work.
      await eventually(async () => count > 40);
      await postgres.stop('SIGKILL');
      isOver = true;
      await Promise.all(running);
      // Backends that have not found the death of the server yet keep its memory.
      await eventually(() =>
        postgres.startAgain().then(
          () => true,
          () => false,
        ),
      );
      await eventually(() =>
        rows('SELECT 1').then(
          () => true,
          () => false,
        ),
      );
      await t.auth.settled();
      expect(await faults()).toEqual([]);
      expect((await rows('SELECT 1 FROM svc_audit')).length).toBeGreaterThan(20);
    }
  });
});
