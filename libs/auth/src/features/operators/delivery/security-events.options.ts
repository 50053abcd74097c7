import { option } from '../../../kit';

/** A system that gets the security events of a guard. */
export interface SecurityEventReceiver {
  /** Its name in the table and in the log. Events that wait under a former name are not delivered. */
  readonly name: string;
  /** The URL to which each token is posted. In production it is an https URL. Redirects are not followed. */
  readonly endpoint: string;
  /** `aud` claim of its tokens: the name that the receiver expects. It is no audience of access tokens. */
  readonly audience: string;
  /** The header `Authorization` of each request, such as `Bearer …`. A function is called for each request. */
  readonly authorization?: string | (() => string | Promise<string>);
}

/** Security Event Tokens for other systems (RFC 8417, RFC 8935, OpenID CAEP). Needs `features.securityEventTokens`. */
export interface SecurityEventsOptions {
  /**
   * The systems that get the events. They verify the tokens with the public keys of the guard, so `algorithm` is RS256 or ES256.
   *
   * @default []
   */
  receivers?: readonly SecurityEventReceiver[];
}

declare module '../../../foundation/config/auth-config' {
  interface GuardConfig {
    readonly securityEvents: option.WithDefaults<SecurityEventsOptions>;
  }
}

export const SECURITY_EVENTS_OPTIONS = {
  features: { securityEventTokens: option.feature({ default: false, env: 'FEATURE_SECURITY_EVENT_TOKENS' }) },
  securityEvents: {
    receivers: option.value<readonly SecurityEventReceiver[]>({ default: [] }),
  } satisfies option.TableOf<SecurityEventsOptions>,
} satisfies option.OptionTree;
