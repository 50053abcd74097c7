import type { Tokens } from '../apps/serve';
import type { Deployment } from './deployment';

/** The milliseconds to end all sessions of a user, by the number of sessions. */
export type Revoked = Record<number, number[]>;

/**
 * Ends all sessions of each user of {@link Crowds}, one after the other, with alternating sizes.
 * @throws if a token of theirs is accepted afterwards
 */
export async function revokeCrowds({ client, filled: { crowds } }: Deployment): Promise<Revoked> {
  const times: Revoked = {};
  for (const { size, token } of crowds) {
    const { text } = await client.expect(200, 'POST', '/auth/refresh', { body: { refresh_token: token } });
    const { access_token, refresh_token } = JSON.parse(text) as Tokens;
    const listed = await client.expect(200, 'GET', '/auth/sessions', { token: access_token });
    const { data } = JSON.parse(listed.text) as { data: unknown[] };
    // The list contains at most a hundred sessions.
    if (data.length !== Math.min(size, 100)) throw new Error(`${data.length} sessions instead of ${size}`);
    const { milliseconds } = await client.expect(204, 'DELETE', '/auth/sessions', { token: access_token });
    (times[size] ??= []).push(milliseconds);
    await client.expect(401, 'GET', '/guarded', { token: access_token });
    await client.expect(401, 'POST', '/auth/refresh', { body: { refresh_token } });
  }
  return times;
}
