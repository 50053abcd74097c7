import { setTimeout as sleep } from 'node:timers/promises';
import { type TestApp, type Tokens, claimsOf } from '../../support/hosts/app';
import { type Answer, type HostProcess, send, startProcesses } from '../../support/hosts/processes';
import { sharedRedisUrl } from '../../support/stores/with-redis';

/** The result of a run. */
export interface KilledRefreshes {
  /** Refreshes that were interrupted by the end of their process. */
  trials: number;
  /** The number of these that had been committed: the client holds a replaced token. */
  committed: number;
  processes: number;
  /** Responses that a client should not have received. */
  wrong: string[];
  revoked: number;
}

const AT_ONCE = 40;
const ROTATIONS = 2;

/**
 * Kills processes during refreshes until `trials` were interrupted, a quarter of them after their commit: a client without the
 * answer to one that was not committed proves nothing. Their clients continue at `survivor`.
 */
export async function killRefreshes(survivor: TestApp, trials: number): Promise<KilledRefreshes> {
  const result: KilledRefreshes = { trials: 0, committed: 0, processes: 0, wrong: [], revoked: 0 };
  const there = await survivor.app.getUrl();
  await survivor.person('ada@example.com');
  const sessions: Tokens[] = await Promise.all(Array.from({ length: AT_ONCE }, () => survivor.session()));
  const isOver = (): boolean => result.trials >= trials && result.committed >= trials / 4;
  let next = launch(survivor);
  while (!isOver()) {
    const victim = await next;
    const duration = await warmUp(victim, await survivor.session());
    const sent = sessions.map((tokens) => send(`${victim.url}/auth/refresh`, 'POST', tokens).catch(() => null));
    await sleep(Math.random() * duration);
    victim.stop();
    result.processes++;
    const answers = await Promise.all(sent);
    const cut = sessions.filter((_, i) => !answers[i]);
    result.trials += cut.length;
    result.committed += await replaced(survivor, cut);
    if (!isOver()) next = launch(survivor);
    await Promise.all(sessions.map((tokens, i) => continueAt(there, tokens, answers[i] ?? null, result)));
  }
  const [{ revoked }] = await survivor.database.query(
    'SELECT count(*)::int AS revoked FROM svc_sessions WHERE revoked_at IS NOT NULL',
  );
  return { ...result, revoked };
}

const launch = async (t: TestApp): Promise<HostProcess> =>
  (await startProcesses(1, { databaseUrl: t.databaseUrl, redisUrl: sharedRedisUrl()! }))[0]!;

/** Opens connections and warms up the compiler. @returns the approximate duration of one round in milliseconds */
async function warmUp(victim: HostProcess, tokens: Tokens): Promise<number> {
  const round = () =>
    Promise.all(Array.from({ length: AT_ONCE }, () => send(`${victim.url}/auth/refresh`, 'POST', tokens)));
  await round();
  const start = performance.now();
  await round();
  return performance.now() - start;
}

/** The number of these sessions whose generation is later than that of the client's token. */
async function replaced(t: TestApp, sessions: readonly Tokens[]): Promise<number> {
  const clientGenerations = sessions.map(({ access_token: access, refresh_token: refresh }) => ({
    id: claimsOf(access).fid,
    // base64url of version, session and generation (1, 16 and 4 bytes), followed by the MAC.
    generation: Buffer.from(refresh, 'base64url').readUInt32BE(17),
  }));
  const [{ n }] = await t.database.query(
    `SELECT count(*)::int AS n FROM json_to_recordset($1) AS held (id uuid, generation int)
       JOIN svc_sessions s ON s.id = held.id AND s.generation > held.generation`,
    [JSON.stringify(clientGenerations)],
  );
  return n;
}

/** Continues at another process with some refreshes. A request without a response is repeated. */
async function continueAt(url: string, tokens: Tokens, answer: Answer | null, result: KilledRefreshes): Promise<void> {
  const take = ({ status, body }: Answer): void => {
    if (status === 200) Object.assign(tokens, body);
    else result.wrong.push(`refresh: ${status}`);
  };
  take(answer ?? (await refreshed(url, tokens)));
  for (let i = 0; i < ROTATIONS; i++) take(await refreshed(url, tokens));
  const { status } = await send(`${url}/private`, 'GET', undefined, tokens.access_token);
  if (status !== 200) result.wrong.push(`guarded: ${status}`);
}

/** Refreshes, and repeats the request on 503. */
async function refreshed(url: string, tokens: Tokens): Promise<Answer> {
  for (;;) {
    const answer = await send(`${url}/auth/refresh`, 'POST', tokens);
    if (answer.status !== 503) return answer;
    await sleep(100);
  }
}
