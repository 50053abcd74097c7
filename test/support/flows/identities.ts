import type { AuthModuleOptions } from '@svc/auth';
import { oidc } from '@svc/auth/identities';
import { TestApp } from '../hosts/app';
import { Mailbox, memberOptions } from '../hosts/members';
import { type Person, ScriptedProvider } from '../identity-provider/scripted-provider';

export const PAGES = ['https://app.example.test/sign-in/acme', 'https://app.example.test/account/acme'];
export const GRACE: Person = { sub: 'grace-1', name: 'Grace Hopper', email: 'grace@example.com', email_verified: true };
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
  readonly acme = new ScriptedProvider();
  readonly other = new ScriptedProvider();
  readonly mailbox = new Mailbox();
  readonly t: TestApp;

  constructor(options: Partial<AuthModuleOptions> = {}, provider: Partial<Parameters<typeof oidc>[0]> = {}) {
    this.t = TestApp.forFile(async () => {
      await Promise.all([this.acme.start(), this.other.start()]);
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
    const client = { clientId: 'svc', clientSecret: 'a secret of this application' };
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
            redirectUris: ['https://app.example.test/sign-in/other'],
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

  /** Signs a person in at a provider, and makes the callback. */
  async signIn(person: Person = GRACE, provider: 'acme' | 'other' = 'acme', more: object = {}) {
    const begun = await this.begin(provider);
    return this.send(this[provider].signedIn(begun.authorization_url, person), begun.attempt_token, provider, more);
  }
}
