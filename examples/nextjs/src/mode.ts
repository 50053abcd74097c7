import type { Tokens } from './session';

/** As those of the API: `cookie.refreshName`. */
export const REFRESH = '__Host-refresh';
export const SAME_SITE = 'strict';

export const refreshRequest = (refresh: string) => ({
  headers: { Cookie: `${REFRESH}=${refresh}` },
  body: undefined,
});

export async function tokensOf(answer: Response): Promise<Tokens> {
  const { access_token: access, expires_in: expiresIn } = await answer.json();
  const setCookie = answer.headers.getSetCookie().find((line) => line.startsWith(`${REFRESH}=`));
  if (!setCookie) throw new Error('The API is not in cookie mode');
  const refresh = setCookie.slice(REFRESH.length + 1).split(';')[0]!;
  return { access, expiresIn, refresh, setCookie };
}
