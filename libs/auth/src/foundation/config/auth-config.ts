import type {
  Algorithm,
  AuthHooks,
  AuthModuleOptions,
  AuthValues,
  BreachOptions,
  ConfirmOptions,
  CookieOptions,
  EmailChangeOptions,
  EmailCodeOptions,
  EmailVerificationOptions,
  FeatureOptions,
  HashingOptions,
  KnownDeviceOptions,
  KeyOptions,
  Limiter,
  LockoutOptions,
  LoginRateLimit,
  MailOptions,
  PasskeyOptions,
  PasswordResetOptions,
  RateLimit,
  RateLimitsOptions,
  RedisOptions,
  RegistrationOptions,
  ResetBrokerOptions,
  RetentionOptions,
  SecurityLogOptions,
  SessionsOptions,
  TwoFactorOptions,
  UsersOptions,
} from './auth-options';
import type { Language } from '../platform/language';
import type { NoticeKind } from '../ports/mail';

/** All rate limits, with defaults applied. */
export type RateLimits = {
  readonly [Name in Exclude<keyof RateLimitsOptions, 'ipv6Prefix' | 'limiters' | 'login'>]-?: Readonly<
    Required<RateLimit>
  >;
} & {
  readonly login: Readonly<Required<LoginRateLimit>>;
  readonly ipv6Prefix: number;
  readonly limiters: Readonly<Record<string, Limiter>>;
};

/** The options of one guard, with defaults applied, frozen. */
export interface GuardConfig {
  readonly guard: string;
  readonly isDefault: boolean;
  /**
   * The full name of an option of this guard for error messages: below the guard, or at the top level if it was
   * inherited.
   */
  readonly nameOf: (option: string) => string;
  readonly path: string;
  readonly domain: string | null;
  readonly users: UsersOptions | undefined;
  readonly features: Readonly<Required<FeatureOptions>>;
  readonly algorithm: Algorithm;
  readonly secret: string | undefined;
  readonly previousSecrets: readonly string[];
  readonly keys: Readonly<KeyOptions & Required<Pick<KeyOptions, 'active' | 'public'>>>;
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly accessTtl: number;
  readonly refreshTtl: number;
  readonly graceSeconds: number;
  readonly forkThreshold: number;
  readonly leeway: number;
  readonly tokenIds: NonNullable<AuthValues['tokenIds']>;
  readonly cookieMode: boolean;
  readonly refreshTokenFrom: NonNullable<AuthValues['refreshTokenFrom']>;
  readonly cookie: Readonly<Required<CookieOptions>>;
  readonly username: string;
  readonly appName: string;
  readonly rateLimits: RateLimits;
  readonly confirm: Readonly<Required<ConfirmOptions>>;
  readonly lockout: Readonly<Required<LockoutOptions>>;
  readonly twoFactor: Readonly<Required<TwoFactorOptions>>;
  readonly passkeys: Readonly<Required<Omit<PasskeyOptions, 'rpId'>> & { rpId: string | undefined }>;
  readonly emailVerification: Readonly<
    Required<Omit<EmailVerificationOptions, 'frontendUrl' | 'apiUrl'>> & {
      frontendUrl: string | undefined;
      apiUrl: string | undefined;
    }
  >;
  /** `expireMinutes` and `throttleSeconds` are those of the selected broker. */
  readonly passwordReset: Readonly<
    Required<Omit<PasswordResetOptions, 'frontendUrl' | 'brokers'>> & {
      frontendUrl: string | undefined;
      /** All brokers by name. The name of the default broker is empty. */
      brokers: Readonly<Record<string, Readonly<Required<ResetBrokerOptions>>>>;
    }
  >;
  readonly emailChange: Readonly<
    Required<Omit<EmailChangeOptions, 'confirmUrl' | 'undoUrl'>> & {
      confirmUrl: string | undefined;
      undoUrl: string | undefined;
    }
  >;
  readonly knownDevices: Readonly<
    Required<Omit<KnownDeviceOptions, 'frontendUrl'>> & { frontendUrl: string | undefined }
  >;
  readonly emailCode: Readonly<Required<Omit<EmailCodeOptions, 'frontendUrl'>> & { frontendUrl: string | undefined }>;
  readonly registration: Readonly<
    Required<Omit<RegistrationOptions, 'rules'>> & { rules: RegistrationOptions['rules'] }
  >;
  readonly passwords: {
    readonly minLength: number;
    /** In lower case. */
    readonly blockList: ReadonlySet<string>;
    readonly breached: Readonly<Required<BreachOptions>> | undefined;
  };
  readonly mail: Readonly<
    Required<Omit<MailOptions, 'mailer' | 'notices'>> &
      Pick<MailOptions, 'mailer'> & {
        notices: true | readonly NoticeKind[];
      }
  >;
  /** Empty: the messages are in English, and no header names it. */
  readonly languages: readonly Language[];
  readonly sessions: Readonly<Required<SessionsOptions>>;
  readonly hooks: Readonly<AuthHooks>;
  readonly messages: NonNullable<AuthValues['messages']>;
}

/** The options of the whole module, with defaults applied, frozen. */
export interface AuthConfig {
  readonly routes: boolean;
  /** The extra guards in their order, the default guard last. */
  readonly guards: readonly GuardConfig[];
  readonly encryption: Readonly<{ key: string | undefined; previousKeys: readonly string[] }>;
  readonly hashing: Readonly<Required<HashingOptions>>;
  readonly retention: Readonly<Required<RetentionOptions>>;
  readonly securityLog: Readonly<Required<Omit<SecurityLogOptions, 'sink'>> & Pick<SecurityLogOptions, 'sink'>>;
  readonly storeTimeoutMs: number;
  readonly preparedStatements: boolean;
  readonly requestOf: AuthModuleOptions['requestOf'];
  readonly keyPrefix: string;
  /** The Redis to which the library connects itself. */
  readonly redisUrl: RedisOptions['url'];
  /** The store that the host configured; undefined without one: then {@link redisUrl}, or the memory of this process. */
  readonly store: unknown;
}

/** Whether the library reads a database: for its routes, or for the users of a guard. A service that only verifies has none. */
export const needsDatabase = ({ routes, guards }: AuthConfig): boolean =>
  routes || guards.some(({ users }) => users?.entity !== undefined);

/** DI token of {@link AuthConfig}. */
export const AUTH_CONFIG = Symbol('AUTH_CONFIG');
