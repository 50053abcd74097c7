import type { AuthModuleOptions } from '@svc/auth';
import { oidc } from '@svc/auth/identities';
import { TestApp } from '../hosts/app';
import { Mailbox, memberOptions } from '../hosts/members';
import { CLIENT_SECRET, IdentityProviderHost, type Person as Claims } from '../identity-provider/identity-provider';
import { answerOf } from '../identity-provider/visit';

export const PAGES = ['https://app.example.test/sign-in/acme', 'https://app.example.test/account/acme'];
/** A person, with what the provider says. */
export interface Person extends Claims {
  readonly sub: string;
  readonly amr?: string[];
}

export const GRACE: Person = { sub: 'grace-1', name: 'Grace Hopper', email: 'grace@example.com', email_verified: true };
export const OTHER_PAGES = ['https://app.example.test/sign-in/other'];
export const REFUSED_TEXT = 'The sign-in with this provider was not completed. Start it again.';
export const REFUSED = { message: REFUSED_TEXT, errors: { parameters: [REFUSED_TEXT] } };

/** A begun attempt, in body mode. */
export interface Begun {
  readonly authorization_url: string;
  readonly attempt_token: string;
  readonly expires_in: number;
}

/** A host with members and two providers, `acme` and `other`, of which `acme` knows the owners of addresses of example.com. */
export class IdentityHost {
  acme!: IdentityProviderHost;
  other!: IdentityProviderHost;
  readonly mailbox = new Mailbox();
  readonly t: TestApp;

  constructor(options: Partial<AuthModuleOptions> = {}, provider: Partial<Parameters<typeof oidc>[0]> = {}) {
    this.t = TestApp.forFile(async () => {
      [this.acme, this.other] = [await startProvider(PAGES), await startProvider(OTHER_PAGES)];
      return { options: this.options(options, provider) };
    });
    beforeEach(() => {
      this.mailbox.clear();
      this.acme.reset();
      this.other.reset();
    });
    afterAll(() => Promise.all([this.acme.stop(), this.other.stop()]));
  }

  private options(
    options: Partial<AuthModuleOptions>,
    provider: Partial<Parameters<typeof oidc>[0]>,
  ): Partial<AuthModuleOptions> {
    const client = { clientId: 'app', clientSecret: CLIENT_SECRET };
    return memberOptions(this.mailbox, {
      ...options,
      features: { identities: true, ...options.features },
      identities: {
        providers: {
          acme: oidc({
            ...client,
            issuer: this.acme.issuer,
            redirectUris: PAGES,
            authorityFor: ['example.com'],
            ...provider,
          }),
          other: oidc({
            ...client,
            issuer: this.other.issuer,
            redirectUris: OTHER_PAGES,
          }),
        },
        ...options.identities,
      },
    });
  }

  async begin(provider = 'acme', body: object = {}): Promise<Begun> {
    return (await this.t.http.post(`/auth/identities/${provider}`).send(body).expect(200)).body as Begun;
  }

  send(parameters: unknown, attempt_token: unknown, provider = 'acme', more: object = {}) {
    return this.t.http.post(`/auth/identities/${provider}/callback`).send({ parameters, attempt_token, ...more });
  }

  /** The parameters with which the browser returns from an address, after a person has signed in there. */
  async signedIn(url: string, { sub: subject, amr, ...claims }: Person): Promise<string> {
    const provider = url.startsWith(this.acme.issuer) ? this.acme : this.other;
    provider.people.set(subject, claims);
    provider.signedIn = { subject, amr };
    return String(await answerOf(url));
  }

  /** Signs a person in at a provider, and makes the callback. */
  async signIn(person: Person = GRACE, provider: 'acme' | 'other' = 'acme', more: object = {}) {
    const begun = await this.begin(provider);
    const parameters = await this.signedIn(begun.authorization_url, person);
    return this.send(parameters, begun.attempt_token, provider, more);
  }
}

const startProvider = (redirect_uris: string[]): Promise<IdentityProviderHost> =>
  IdentityProviderHost.start([{ client_id: 'app', client_secret: CLIENT_SECRET, redirect_uris }]);
