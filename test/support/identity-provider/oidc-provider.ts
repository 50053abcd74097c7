import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ProviderClient } from './identity-provider';

/** The part of `oidc-provider` that the tests use. The package has no types. */
export interface OidcProvider {
  readonly Client: {
    find(id: string): Promise<{ backchannelLogout(subject: string, sid?: string): Promise<void> } | undefined>;
  };
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  on(event: string, listener: (...values: unknown[]) => void): void;
}

interface Context {
  body?: string;
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId?: string };
    readonly provider: {
      readonly Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
    };
  };
}

/** The package is an ES module. It writes warnings: that it keeps its data in memory, and that Node 20 is old. */
function quietly<T>(work: () => T): T {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}

type Constructor = new (issuer: string, configuration: object) => OidcProvider;

interface Settings {
  readonly clients: readonly ProviderClient[];
  /** The private key as JWK. */
  readonly key: object;
  readonly claimsOf: (subject: string) => Record<string, unknown>;
}

/** A provider in which no person is asked: who opens its sign-in has agreed to everything. */
export function newProvider(issuer: string, { clients, key, claimsOf }: Settings): OidcProvider {
  const configuration = {
    clients: clients.map((client) => ({ backchannel_logout_session_required: true, ...client })),
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    jwks: { keys: [key] },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 3600, IdToken: 3600, Interaction: 600, Session: 3600 },
    cookies: { keys: ['a-key-for-the-cookies-of-the-provider'] },
    pkce: { required: () => true },
    acrValues: ['urn:example:two-factors'],
    claims: {
      openid: ['sub', 'amr', 'acr'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      auth_time: null,
      sid: null,
    },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context: Context, form: string) => {
          context.body = `<!doctype html><title>Sign out</title>${form.replace('</form>', '<input type="hidden" name="logout" value="yes"/><button>Sign out</button></form>')}`;
        },
      },
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, subject: string) => ({
      accountId: subject,
      claims: () => ({ sub: subject, ...claimsOf(subject) }),
    }),
    loadExistingGrant: async ({ oidc }: Context) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  };
  return quietly(() => {
    const { Provider } = require('oidc-provider') as { Provider: Constructor };
    return new Provider(issuer, configuration);
  });
}
