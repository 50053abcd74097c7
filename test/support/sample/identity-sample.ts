import { freePort } from '../../../apps/sample/src/dev/embedded-postgres';
import { CLIENT_SECRET, IdentityProviderHost } from '../identity-provider/identity-provider';
import type { SampleVisit } from './sample-page';

/** A provider that the sample of a `describe` block is configured with. A browser that goes there is signed in as its `signedIn` says. */
export class SampleIdentities {
  private running!: IdentityProviderHost;

  private constructor() {}

  /** @param env further variables of the sample */
  static forTests(visit: SampleVisit, env: Record<string, string> = {}): SampleIdentities {
    const identities = new SampleIdentities();
    afterAll(() => identities.running?.stop());
    beforeEach(() => identities.running.reset());
    visit.forTests(async () => ({ ...(await identities.start()), ...env }));
    return identities;
  }

  get provider(): IdentityProviderHost {
    return this.running;
  }

  /** A person at the provider, who is there from now on. */
  has(subject: string, person: { email?: string; name?: string } = {}): void {
    this.provider.people.set(subject, { email: `${subject}@example.com`, name: 'Ada', ...person });
    this.provider.signedIn = { subject };
  }

  private async start(): Promise<Record<string, string>> {
    const port = String(await freePort());
    const page = `http://localhost:${port}`;
    this.running = await IdentityProviderHost.start([
      {
        client_id: 'sample',
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${page}/signed-in`, `${page}/auth/identities/oidc/form`],
        post_logout_redirect_uris: [`${page}/`],
      },
    ]);
    return {
      PORT: port,
      SAMPLE_OIDC_ISSUER: this.running.issuer,
      SAMPLE_OIDC_CLIENT_ID: 'sample',
      SAMPLE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      SAMPLE_OIDC_NAME: 'Acme',
      SVC_IDENTITIES_MAX_ATTEMPTS: '1000',
      SVC_REGISTER_MAX_ATTEMPTS: '1000',
    };
  }
}
