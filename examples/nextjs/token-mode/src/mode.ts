import type { Tokens } from './session';

export const REFRESH = '__Host-refresh';
/** The browser sends the cookies also with the first page after a link on another site. */
export const SAME_SITE = 'lax';

export const refreshRequest = (refresh: string) => ({
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ refresh_token: refresh }),
});

export async function tokensOf(answer: Response): Promise<Tokens> {
  const { access_token: access, expires_in: expiresIn, refresh_token: refresh } = await answer.json();
  return { access, expiresIn, refresh };
}
