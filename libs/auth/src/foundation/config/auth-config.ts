import type {
  AuthHooks,
  AuthModuleOptions,
  AuthValues,
  CookieOptions,
  FeatureOptions,
  RateLimitsOptions,
  RedisOptions,
  RetentionOptions,
  SecurityLogOptions,
  UsersOptions,
} from './auth-options';
import type { Limiter } from '../ports/limiter';
import type { GuardFacts, WithDefaults } from './option-table';
import type { Language } from '../platform/language';
import { AuthConfigError } from '../platform/errors';

/** All rate limits, with defaults applied. */
export type RateLimits = {
  readonly [Name in Exclude<keyof RateLimitsOptions, 'ipv6Prefix' | 'limiters'>]-?: WithDefaults<
    NonNullable<RateLimitsOptions[Name]>
  >;
} & {
  readonly ipv6Prefix: number;
  readonly limiters: Readonly<Record<string, Limiter>>;
};

/** The options of one guard that `auth.guardConfig()` returns, with defaults applied. Features add their blocks. */
export interface PublicOptions {
  readonly guard: string;
  readonly isDefault: boolean;
  readonly path: string;
  readonly domain: string | null;
  readonly features: WithDefaults<FeatureOptions>;
  readonly algorithm: NonNullable<AuthValues['algorithm']>;
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly accessTtl: number;
  readonly refreshTtl: number;
  readonly graceSeconds: number;
  readonly forkThreshold: number;
  readonly leeway: number;
  readonly cookieMode: boolean;
  readonly cookie: WithDefaults<CookieOptions>;
  readonly username: string;
  readonly appName: string;
  /** Empty: the messages are in English, and no header names it. */
  readonly languages: readonly Language[];
}

/** The options of one guard, with defaults applied, frozen. Features add their blocks. */
export interface GuardConfig extends PublicOptions {
  /**
   * The full name of an option of this guard for error messages: below the guard, or at the top level if it was
   * inherited.
   */
  readonly nameOf: (option: string) => string;
  /** The facts that options of features decide. */
  readonly facts: GuardFacts;
  /** The names of these options, for error messages. */
  readonly decidedBy: Readonly<Record<keyof GuardFacts, string>>;
  readonly users: UsersOptions | undefined;
  readonly secret: string | undefined;
  readonly previousSecrets: readonly string[];
  readonly tokenIds: NonNullable<AuthValues['tokenIds']>;
  readonly refreshTokenFrom: NonNullable<AuthValues['refreshTokenFrom']>;
  readonly rateLimits: RateLimits;
  readonly hooks: Readonly<AuthHooks>;
  readonly messages: NonNullable<AuthValues['messages']>;
}

/** The options of the whole module, with defaults applied, frozen. */
export interface AuthConfig {
  readonly routes: boolean;
  readonly verifyOnly: boolean;
  /** The extra guards in their order, the default guard last. */
  readonly guards: readonly GuardConfig[];
  readonly encryption: Readonly<{ key: string | undefined; previousKeys: readonly string[] }>;
  readonly retention: WithDefaults<RetentionOptions>;
  readonly securityLog: WithDefaults<SecurityLogOptions, 'sink'>;
  readonly storeTimeoutMs: number;
  readonly preparedStatements: boolean;
  readonly requestOf: AuthModuleOptions['requestOf'];
  readonly keyPrefix: string;
  /** The Redis to which the library connects itself. */
  readonly redis: RedisOptions;
  /** The store that the host configured; undefined without one: then {@link redis}, or the memory of this process. */
  readonly store: unknown;
}

/** Whether the library reads a database. A service that only verifies reads one if the users of a guard are in a table. */
export const needsDatabase = ({ verifyOnly, guards }: AuthConfig): boolean =>
  !verifyOnly || guards.some(({ users }) => users?.entity !== undefined);

/** @throws AuthConfigError in a service that only verifies: its tables and options are not those of the issuer */
export function refuseVerifyOnly({ verifyOnly }: Pick<AuthConfig, 'verifyOnly'>): void {
  if (!verifyOnly) return;
  throw new AuthConfigError(
    'The service only verifies tokens (verifyOnly), so it starts, ends and prunes no sessions. Do this at the issuer, or ' +
      'remove verifyOnly and give this service the tables, the keys and the options of the issuer.',
  );
}

/** DI token of {@link AuthConfig}. */
export const AUTH_CONFIG = Symbol('AUTH_CONFIG');
