import { type IdentityProvider, google, oidc } from '@svc/auth/identities';

const APP_URL = process.env.APP_URL ?? 'http://localhost:3000';
const { PROVIDER_URL, GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET } = process.env;

/** The providers by their names, which are part of the routes. Each has a page of its own to which it returns. */
export const providers: Record<string, IdentityProvider> = {
  ...(PROVIDER_URL && {
    local: oidc({
      issuer: PROVIDER_URL,
      clientId: 'identities',
      clientSecret: 'only for the local provider',
      redirectUris: [`${APP_URL}/signed-in/local`],
      // It knows the owners of these addresses: a new account has a verified address.
      authorityFor: ['example.com'],
    }),
  }),
  ...(GOOGLE_CLIENT_ID &&
    GOOGLE_CLIENT_SECRET && {
      google: google({
        clientId: GOOGLE_CLIENT_ID,
        clientSecret: GOOGLE_CLIENT_SECRET,
        redirectUris: [`${APP_URL}/signed-in/google`],
        authorityFor: ['gmail.com'],
      }),
    }),
};
