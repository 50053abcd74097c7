import type { AuthModuleOptions } from '@svc/auth';
import { oidc } from '@svc/auth/identities';
import type { SoftAuthenticator } from '@svc/auth/testing';
import { TestApp, type TestAppOptions, type Tokens } from '../hosts/app';
import { Mailbox, memberOptions } from '../hosts/members';
import { CLIENT_SECRET, IdentityProviderHost, type Person as Claims } from '../identity-provider/identity-provider';
import { answerOf } from '../identity-provider/visit';
import { CONFIRMATION_HEADER } from './step-up';

export const PAGES = ['https://app.example.test/sign-in/acme', 'https://app.example.test/account/acme'];
/** A person, with what the provider says. */
export interface Person extends Claims {
  readonly sub: string;
  readonly amr?: string[];
  /** The session at the provider, and the time of the sign-in, where the provider says others than its own. */
  readonly sid?: string;
  readonly auth_time?: unknown;
}

export const GRACE: Person = { sub: 'grace-1', name: 'Grace Hopper', email: 'grace@example.com', email_verified: true };
export const OTHER_PAGES = ['https://app.example.test/sign-in/other'];
export const REFUSED_TEXT = 'The sign-in with this provider was not completed. Start it again.';
export const REFUSED = { message: REFUSED_TEXT, errors: { parameters: [REFUSED_TEXT] } };

/** A provider that no test asks. */
export const UNREACHED_PROVIDER = {
  providers: {
    acme: oidc({
      issuer: 'https://id.example.test',
      clientId: 'app',
      clientSecret: CLIENT_SECRET,
      redirectUris: PAGES,
    }),
  },
};

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
  t!: TestApp;

  private constructor(
    private readonly given: Partial<AuthModuleOptions>,
    private readonly provider: Partial<Parameters<typeof oidc>[0]>,
  ) {}

  static async start(options: Partial<AuthModuleOptions> = {}, more: TestAppOptions = {}): Promise<IdentityHost> {
    const host = new IdentityHost(options, {});
    host.t = await TestApp.start({ options: await host.prepared(), ...more });
    return host;
  }

  /** One host for a whole file, or for a `describe` block. */
  static forFile(
    options: Partial<AuthModuleOptions> = {},
    provider: Partial<Parameters<typeof oidc>[0]> = {},
  ): IdentityHost {
    const host = new IdentityHost(options, provider);
    host.t = TestApp.forFile(async () => ({ options: await host.prepared() }));
    beforeEach(() => {
      host.mailbox.clear();
      host.acme.reset();
      host.other.reset();
    });
    afterAll(() => Promise.all([host.acme.stop(), host.other.stop()]));
    return host;
  }

  async stop(): Promise<void> {
    await Promise.all([this.t.stop(), this.acme.stop(), this.other.stop()]);
  }

  private async prepared(): Promise<Partial<AuthModuleOptions>> {
    [this.acme, this.other] = [await startProvider(PAGES), await startProvider(OTHER_PAGES)];
    return this.options(this.given, this.provider);
  }

  private options(
    options: Partial<AuthModuleOptions>,
    provider: Partial<Parameters<typeof oidc>[0]>,
  ): Partial<AuthModuleOptions> {
    const client = { clientId: 'app', clientSecret: CLIENT_SECRET };
    return memberOptions(this.mailbox, {
      ...options,
      mail: { mailer: this.mailbox, ...options.mail },
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
    const answer = { parameters, attempt_token, redirect_uri: pageOf(provider), ...more };
    return this.t.http.post(`/auth/identities/${provider}/callback`).send(answer);
  }

  /** The parameters with which the browser returns from an address, after a person has signed in there. */
  async signedIn(url: string, { sub: subject, amr, ...claims }: Person): Promise<string> {
    const provider = url.startsWith(this.acme.issuer) ? this.acme : this.other;
    for (const claim of ['sid', 'auth_time'] as const)
      if (claim in claims) provider.wrong.claims[claim] = claims[claim];
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

  /** The tokens of a new session of a person. */
  async session(person: Person = GRACE, provider: 'acme' | 'other' = 'acme'): Promise<Tokens> {
    const { status, body } = await this.signIn(person, provider);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as Tokens;
  }

  call(method: 'get' | 'post' | 'delete', path: string, { access_token }: Tokens, proof = '') {
    return this.t.http[method](`/auth/${path}`)
      .set('Authorization', `Bearer ${access_token}`)
      .set(CONFIRMATION_HEADER, proof);
  }

  /** Signs a person in again at a provider, and confirms a session with it. */
  async confirm(session: Tokens, person: Person = GRACE, provider: 'acme' | 'other' = 'acme') {
    const { body: begun } = await this.call('post', 'confirm-identity', session).send({ provider }).expect(200);
    const parameters = await this.signedIn(begun.authorization_url, person);
    const answer = { provider, parameters, attempt_token: begun.attempt_token, redirect_uri: pageOf(provider) };
    return this.call('post', 'confirm-identity/callback', session).send(answer);
  }

  /** A confirmation token for a session that a person has started. */
  async proofOf(session: Tokens, person?: Person, provider?: 'acme' | 'other'): Promise<string> {
    return (await this.confirm(session, person, provider).then((answer) => expectStatus(answer, 200))).body
      .confirmation_token;
  }

  async beginLink(session: Tokens, proof: string, provider: 'acme' | 'other'): Promise<Begun> {
    return (await this.call('post', `identities/${provider}/link`, session, proof).expect(200)).body as Begun;
  }

  /** Makes the callback of a link, in a session. */
  async answerLink(session: Tokens, begun: Begun, person: Person, provider: 'acme' | 'other') {
    const parameters = await this.signedIn(begun.authorization_url, person);
    const answer = { parameters, attempt_token: begun.attempt_token, redirect_uri: pageOf(provider) };
    return this.call('post', `identities/${provider}/link/callback`, session).send(answer);
  }

  /** Links a person of a provider with the account of a session. */
  async link(session: Tokens, proof: string, person: Person, provider: 'acme' | 'other' = 'other') {
    return this.answerLink(session, await this.beginLink(session, proof, provider), person, provider);
  }

  /** Stores a passkey of a user, and returns its id. */
  async enrolPasskey(session: Tokens, proof: string, authenticator: SoftAuthenticator): Promise<string> {
    const { body } = await this.call('post', 'passkeys/registration-options', session, proof).expect(200);
    const credential = authenticator.create(body);
    await this.call('post', 'passkeys', session, proof).send({ credential }).expect(204);
    return credential.id;
  }

  async listed(session: Tokens): Promise<{ id: string; provider: string; email: string | null }[]> {
    return (await this.call('get', 'identities', session).expect(200)).body.identities;
  }

  /** The status of a request, and of a refresh, in a session. */
  async isLive({ access_token, refresh_token }: Tokens): Promise<[number, number]> {
    const { status } = await this.t.get('/private', access_token);
    return [status, (await this.t.refresh(refresh_token)).status];
  }

  logOut(token: string, provider = 'acme') {
    return this.t.http.post(`/auth/identities/${provider}/logout`).type('form').send({ logout_token: token });
  }
}

/** The page to which a provider sends the browser back, if the attempt names no other. */
export const pageOf = (provider: string): string => (provider === 'other' ? OTHER_PAGES : PAGES)[0]!;

const startProvider = (redirect_uris: string[]): Promise<IdentityProviderHost> =>
  IdentityProviderHost.start([{ client_id: 'app', client_secret: CLIENT_SECRET, redirect_uris }]);

export const LIVE = [200, 200];
export const OVER = [401, 401];

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

function expectStatus<A extends { status: number; body: unknown }>(answer: A, status: number): A {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status });
  return answer;
}
