import { option } from '../../kit';

/** Sessions whose tokens are bound to a key of the client (RFC 9449). Needs `features.boundSessions`. */
export interface BoundSessionsOptions {
  /**
   * `allow` binds the session of a client that proves a key when it signs in, and starts sessions without a key for others. `require`
   * refuses sign-ins without a proof, and the tokens of sessions without a key.
   *
   * @default 'allow'
   * @env SVC_BOUND_SESSIONS_MODE
   */
  mode?: 'allow' | 'require';

  /**
   * The addresses under which clients reach the application: `https://api.example.com`. A proof is for one address: one that was made
   * for another server is refused. With a path if a proxy removes it: `https://example.com/api`. Needed in production. Without it,
   * the address of each request is accepted.
   *
   * @default []
   * @env SVC_BOUND_SESSIONS_ADDRESSES
   */
  addresses?: string[];

  /**
   * Seconds by which the time in a proof may differ from the time of the server, 5 to 600. A client whose clock is off by more is
   * refused, unless {@link nonceSeconds} is set.
   *
   * @default 60
   * @env SVC_BOUND_SESSIONS_PROOF_SECONDS
   */
  proofSeconds?: option.Duration;

  /**
   * Seconds for which a nonce of the server is valid, up to 3600; 0 for none. With it, a proof contains the nonce, in place of the
   * time of the client, so that no proof can be made in advance. A client repeats a request with a new nonce when the former one is over.
   *
   * @default 0
   * @env SVC_BOUND_SESSIONS_NONCE_SECONDS
   */
  nonceSeconds?: option.Duration;
}

declare module '../../foundation/config/auth-config' {
  interface GuardConfig {
    readonly boundSessions: option.WithDefaults<BoundSessionsOptions>;
  }
  interface PublicOptions {
    readonly boundSessions: Pick<GuardConfig['boundSessions'], 'mode'>;
  }
}

export const BOUND_SESSIONS_OPTIONS = {
  features: { boundSessions: option.feature({ default: false, env: 'FEATURE_BOUND_SESSIONS' }) },
  boundSessions: {
    mode: option.text<'allow' | 'require'>({ default: 'allow', env: 'BOUND_SESSIONS_MODE', public: true }),
    addresses: option.list({ default: [], env: 'BOUND_SESSIONS_ADDRESSES' }),
    proofSeconds: option.seconds(5, 600, { default: 60, env: 'BOUND_SESSIONS_PROOF_SECONDS' }),
    nonceSeconds: option.seconds(0, 3600, { default: 0, env: 'BOUND_SESSIONS_NONCE_SECONDS' }),
  } satisfies option.TableOf<BoundSessionsOptions>,
} satisfies option.OptionTree;
