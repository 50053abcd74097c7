import {
  CALLBACK,
  CLIENT_SECRET,
  type IdentityProviderHost,
} from '../../../../../../test/support/identity-provider/identity-provider';
import { answerOf } from '../../../../../../test/support/identity-provider/visit';
import { MovableClock } from '../../../tools/testing/movable-clock';
import type { OidcOptions } from '../provider-options';
import { oidc } from '../providers';
import { type Checks, ProviderClients, type ProviderIdentity } from './provider-clients';

export { CALLBACK };

/** The clients of one process, with the provider `main`. */
export class TestClients {
  readonly clock = new MovableClock();
  readonly clients: ProviderClients;

  constructor(host: IdentityProviderHost, options: Partial<OidcOptions> = {}) {
    const main = oidc({
      issuer: host.issuer,
      clientId: 'app',
      clientSecret: CLIENT_SECRET,
      redirectUris: [CALLBACK],
      ...options,
    });
    this.clients = new ProviderClients({ main }, this.clock);
  }

  /** Begins an attempt and signs the person in at the provider. */
  async answered(fresh = false): Promise<{ parameters: URLSearchParams; checks: Checks }> {
    const { url, checks } = await this.clients.begin('main', CALLBACK, fresh);
    return { parameters: await answerOf(url), checks };
  }

  async signIn(fresh = false): Promise<ProviderIdentity> {
    const { parameters, checks } = await this.answered(fresh);
    return this.clients.exchange('main', parameters, checks);
  }

  exchange(parameters: URLSearchParams, checks: Checks): Promise<ProviderIdentity> {
    return this.clients.exchange('main', parameters, checks);
  }
}

/** What a refused answer looks like, whatever its cause. */
export const REFUSED = { code: 'identity_refused', failure: { status: 422 } };

/** What an unavailable provider looks like. */
export const unavailable = (codeSent: boolean): object => ({
  code: 'provider_unavailable',
  codeSent,
  failure: { status: 503 },
});
