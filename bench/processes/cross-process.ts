import type { Tokens } from '../apps/serve';
import type { Client } from '../growth/client';

/** What crossed from one process to the other without being noticed. */
export interface CrossProcessResult {
  refreshes: number;
  revocations: number;
}

const REFRESHES = 100;
const REVOCATIONS = 50;
const tokensIn = (text: string): Tokens => JSON.parse(text) as Tokens;

/**
 * Lets sessions hop between two processes: each link of a chain of refreshes at the other one, and each end of a
 * session seen there at once. @throws when a token is refused that is good, or taken that is not
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

/** Sessions that {@link checkAcrossProcesses} asks for. */
export const CROSSING_SESSIONS = REVOCATIONS + 1;
