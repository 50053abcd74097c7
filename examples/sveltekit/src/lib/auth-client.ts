import { createAuthClient } from '@svc/auth-client';

export const auth = createAuthClient({ url: '/auth', refreshToken: 'cookie' });

/** The client with the session of the page, which it asks for when the page calls the API for the first time. */
export async function signedIn() {
  if (!auth.session) await auth.renew();
  return auth;
}
