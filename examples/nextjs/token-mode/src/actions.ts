'use server';

import { cookies, headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { REFRESH, tokensOf } from './mode';
import { pathOf } from './paths';
import { API, accessTokenIn, clientOf, cookiesFor, noCookies, renew } from './session';

const post = async (path: string, body: object, more?: Record<string, string>) =>
  fetch(API + path, {
    method: 'POST',
    headers: { ...clientOf(await headers()), 'Content-Type': 'application/json', ...more },
    body: JSON.stringify(body),
    cache: 'no-store',
  });

/** What the form shows after a refusal: React empties the fields. */
interface Refusal {
  message: string;
  email: string;
}

export async function signIn(_: Refusal, form: FormData): Promise<Refusal> {
  const email = String(form.get('email'));
  const answer = await post('/auth/login', { email, password: form.get('password') }).catch((error: Error) =>
    console.error(error),
  );
  if (!answer) return { email, message: 'Please try again later.' };
  if (!answer.ok) return { email, message: (await answer.json()).message };
  const tokens = await tokensOf(answer);
  // The answer is a challenge: send its token and the code to `/auth/two-factor-challenge`.
  if (!tokens.access) return { email, message: 'This account needs a second factor.' };
  const jar = await cookies();
  for (const cookie of cookiesFor(tokens)) jar.set(cookie);
  redirect(pathOf(form.get('next')));
}

export async function signOut(): Promise<void> {
  const jar = await cookies();
  const [access, refresh] = [accessTokenIn(jar), jar.get(REFRESH)?.value];
  // Only the owner of an access token can end a session. Null: it has ended already.
  const tokens = access ? { access, refresh } : refresh ? await renew(refresh, await headers()) : null;
  if (tokens) {
    const authorization = { Authorization: `Bearer ${tokens.access}` };
    const answer = await post('/auth/logout', { refresh_token: tokens.refresh }, authorization);
    // The session would go on. 401: it has ended already.
    if (!answer.ok && answer.status !== 401) throw new Error(`The session could not be ended: ${answer.status}`);
  }
  for (const cookie of noCookies()) jar.set(cookie);
  redirect('/login');
}
