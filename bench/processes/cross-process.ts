import type { Tokens } from '../apps/serve';
import type { Client } from '../growth/client';

/** The number of operations that were correct across the two processes. */
export interface CrossProcessResult {
  refreshes: number;
  revocations: number;
}

const REFRESHES = 100;
const REVOCATIONS = 50;
const tokensIn = (text: string): Tokens => JSON.parse(text) as Tokens;

/**
 * Moves sessions between two processes: each refresh of a chain goes to the other process, and each end of a session
 * must be effective there at once. @throws if a valid token is refused or an invalid one is accepted
 */
export async function checkAcrossProcesses(
  one: Client,
  other: Client,
  sessions: Tokens[],
): Promise<CrossProcessResult> {
  let [tokens, ...rest] = sessions as [Tokens, ...Tokens[]];
  for (let i = 0; i < REFRESHES; i++) {
    const [here, there] = i % 2 ? [one, other] : [other, one];
    tokens = tokensIn((await here.expect(200, 'POST', '/auth/refresh', { body: tokens })).text);
    await there.expect(200, 'GET', '/guarded', { token: tokens.access_token });
  }
  for (const [i, { access_token: token, refresh_token }] of rest.slice(0, REVOCATIONS).entries()) {
    const [here, there] = i % 2 ? [one, other] : [other, one];
    await there.expect(200, 'GET', '/guarded', { token });
    await here.expect(204, 'POST', '/auth/logout', { token });
    await there.expect(401, 'GET', '/guarded', { token });
    await there.expect(401, 'POST', '/auth/refresh', { body: { refresh_token } });
  }
  return { refreshes: REFRESHES, revocations: Math.min(REVOCATIONS, rest.length) };
}

/** The number of sessions that {@link checkAcrossProcesses} needs. */
export const CROSSING_SESSIONS = REVOCATIONS + 1;
