import type { ProviderSettings } from '../provider-options';
import { UnusableAnswer } from './guarded-fetch';
import type { Configuration, OpenidClient } from './openid-library';
import type { Claims } from './provider-identity.policy';

/** GitHub has no discovery document. */
export const endpointsOfGithub = (url: string): ConstructorParameters<OpenidClient['Configuration']>[0] => ({
  issuer: `${url}/login/oauth`,
  authorization_endpoint: `${url}/login/oauth/authorize`,
  token_endpoint: `${url}/login/oauth/access_token`,
});

/** The claims of the person whose access token it is, from the API of GitHub. */
export async function githubIdentity(
  client: OpenidClient,
  configuration: Configuration,
  accessToken: string,
  { api, issuer }: ProviderSettings,
): Promise<Claims> {
  const read = async (path: string): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/vnd.github+json' });
    const url = new URL(`${api}${path}`);
    const response = await client.fetchProtectedResource(configuration, accessToken, url, 'GET', undefined, headers);
    if (!response.ok) throw new UnusableAnswer(`${url.host} answered ${response.status}`);
    return response.json();
  };
  const [user, addresses] = await Promise.all([read('/user'), read('/user/emails')]);
  const { id, name, login } = user as Claims;
  const listed: readonly (Claims | null)[] = Array.isArray(addresses) ? addresses : [];
  const primary = listed.find((address) => address?.primary === true);
  return {
    iss: issuer,
    // The login can be renamed, and then be taken by another person.
    sub: Number.isSafeInteger(id) ? String(id) : undefined,
    name: name ?? login,
    email: primary?.email,
    email_verified: primary?.verified,
  };
}
