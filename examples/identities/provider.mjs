// An OpenID provider for development: any login is accepted, and the password is not checked.
import { createHash, randomBytes } from 'node:crypto';
import { Provider } from 'oidc-provider';

const { PORT = '4000', HOST = 'localhost', APP_URL = 'http://localhost:3000' } = process.env;
const { PROVIDER_URL = `http://localhost:${PORT}` } = process.env;

const provider = new Provider(PROVIDER_URL, {
  clients: [
    {
      client_id: 'identities',
      client_secret: 'only for the local provider',
      redirect_uris: [`${APP_URL}/signed-in/local`],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], auth_time: null },
  // As at Google, the ID token contains the profile.
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  cookies: { keys: [randomBytes(32).toString('hex')] },
  findAccount: (_, login) => ({
    accountId: login,
    claims: () => ({
      sub: createHash('sha256').update(login).digest('hex').slice(0, 21),
      email: login,
      email_verified: true,
      name: login.split('@')[0],
    }),
  }),
});
provider.listen(Number(PORT), HOST, () => console.log(`The provider listens at ${PROVIDER_URL}`));
