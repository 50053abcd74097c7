import { RefreshTokenReused } from '@svc/auth';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp, type Tokens } from '../../support/hosts/app';
import { eventually } from '../../support/runtime/eventually';
import { PostgresServer } from '../../support/stores/postgres';
import { send } from '../../support/hosts/processes';

/** The result of a run. */
export interface Restarts {
  restarts: number;
  refreshes: number;
  /** Refreshes that were answered 503 and repeated. */
  unavailable: number;
  /** Refreshes of a live session that were refused. */
  lost: number;
  /** All other unexpected responses. */
  improper: string[];
  /** Sessions that were ended, and events that reported a reuse. */
  killed: number;
  perSecond: number;
  /** Milliseconds. */
  slowest: number;
}

const CLIENTS = 20;

/** Restarts PostgreSQL under a load of refreshes. Every second restart simulates a crash. */
export async function restartUnderLoad(restarts: number, perSecond: number): Promise<Restarts> {
  const postgres = await PostgresServer.start();
  const t = await TestApp.start({ databaseUrl: postgres.url });
  const url = await t.app.getUrl();
  const stolen = t.recorded(RefreshTokenReused);
  const result = { restarts, refreshes: 0, unavailable: 0, lost: 0, improper: [] as string[], slowest: 0 };
  await t.person('ada@example.com');
  const over = new AbortController();

  async function client(tokens: Tokens): Promise<void> {
    while (!over.signal.aborted) {
      const start = performance.now();
      const { status, body } = await send(`${url}/auth/refresh`, 'POST', tokens);
      const ms = performance.now() - start;
      result.refreshes++;
      result.slowest = Math.max(result.slowest, ms);
      if (status === 200) Object.assign(tokens, body);
      else if (status === 503) result.unavailable++;
      else if (status === 401) result.lost++;
      else result.improper.push(`${status} ${JSON.stringify(body)}`);
      await sleep(Math.max(0, (1000 * CLIENTS) / perSecond - ms));
    }
  }

  const sessions: Tokens[] = [];
  for (let i = 0; i < CLIENTS; i++) sessions.push(await t.session());
  /** Waits for refreshes that succeed: of every client, on average. */
  const moreRefreshes = async (): Promise<void> => {
    const successes = (): number => result.refreshes - result.unavailable;
    const enough = successes() + 2 * CLIENTS;
    await eventually(async () => successes() >= enough);
  };
  const start = performance.now();
  const clients = sessions.map(client);
  for (let i = 0; i < restarts; i++) {
    await moreRefreshes();
    await postgres.stop(i % 2 === 1);
    await postgres.startAgain();
  }
  await moreRefreshes();
  over.abort();
  await Promise.all(clients);
  const seconds = (performance.now() - start) / 1000;
  for (const tokens of sessions) if ((await t.refresh(tokens.refresh_token)).status !== 200) result.lost++;
  const ended = await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NOT NULL');
  await t.stop();
  await postgres.remove();
  return { ...result, killed: ended.length + stolen.length, perSecond: result.refreshes / seconds };
}
