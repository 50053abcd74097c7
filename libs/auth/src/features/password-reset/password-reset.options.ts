import { type AuthModuleOptions, option } from '../../kit';

/** How long reset links are valid, and how often they are mailed. */
export interface ResetBrokerOptions {
  /**
   * Minutes for which a mailed link is valid, 1 to 10080 (a week).
   *
   * @default 60
   * @env SVC_RESET_EXPIRE
   */
  expireMinutes?: option.Duration;

  /**
   * Seconds after a mail during which no further mail is sent to the same account, at most 86400 (a day). `0` means no
   * pause.
   *
   * @default 60
   * @env SVC_RESET_THROTTLE
   */
  throttleSeconds?: option.Duration;
}

/** Password reset. Needs `features.passwordReset`. */
export interface PasswordResetOptions extends ResetBrokerOptions {
  /**
   * Page that the mailed link opens. Its query has the parameters `token` and `email`. `https`, or `http` on localhost
   * outside production. Required. A function returns the whole link instead; see docs/mail.md.
   *
   * @default none
   * @env SVC_RESET_URL
   */
  frontendUrl?: string | ((token: string, email: string, context: { guard: string }) => string);

  /**
   * Ends every session of the user after a reset.
   *
   * @default true
   * @env SVC_RESET_REVOKE_SESSIONS
   */
  revokeSessions?: boolean;

  /**
   * Name of the entry of {@link brokers} that this application uses; `null` uses the values beside it. Links of one
   * broker are not valid for another one. The application does not start with a name that has no entry.
   *
   * @default null
   * @env SVC_RESET_BROKER
   */
  broker?: string | null;

  /**
   * Validity and pause by broker, for applications that share a user table. A value that an entry omits is the value of
   * `passwordReset` itself. Also list the brokers of the other applications: pruning deletes the tokens of a broker
   * that it does not know after the longest configured validity, at least an hour.
   *
   * @default {}
   */
  brokers?: Record<string, ResetBrokerOptions>;
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * Forgotten and reset password, together.
     *
     * @default { maxAttempts: 6, decaySeconds: 60 }
     * @env SVC_RESET_MAX_ATTEMPTS, SVC_RESET_DECAY
     */
    passwordReset?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    /** `expireMinutes` and `throttleSeconds` are those of the selected broker. */
    readonly passwordReset: option.WithDefaults<Omit<PasswordResetOptions, 'brokers'>, 'frontendUrl'> & {
      /** All brokers by name. The name of the default broker is empty. */
      readonly brokers: Readonly<Record<string, option.WithDefaults<ResetBrokerOptions>>>;
    };
  }
}

/** Maximum validity of a reset link in minutes: a week. Who reads the mail later can set a password with it. */
export const LONGEST_RESET = 7 * 24 * 60;

const BROKER = {
  expireMinutes: option.minutes(1, LONGEST_RESET, { default: 60, env: 'RESET_EXPIRE' }),
  throttleSeconds: option.seconds(0, option.DAY, { default: 60, env: 'RESET_THROTTLE' }),
} satisfies option.TableOf<ResetBrokerOptions>;

type Brokers = Readonly<Record<string, option.WithDefaults<ResetBrokerOptions>>>;

/** The brokers by name, each with the values of `passwordReset` itself where it has none. */
function brokersOf(options: AuthModuleOptions): Brokers {
  const { brokers = {}, ...own } = options.passwordReset ?? {};
  const resolved = (given: ResetBrokerOptions | null, fallback: option.TableOf<ResetBrokerOptions>) =>
    option.resolveTree(fallback, given, options) as unknown as option.WithDefaults<ResetBrokerOptions>;
  const common = resolved(own, BROKER);
  const inherited = {
    expireMinutes: { ...BROKER.expireMinutes, default: common.expireMinutes },
    throttleSeconds: { ...BROKER.throttleSeconds, default: common.throttleSeconds },
  };
  const named = Object.entries(brokers).map(([name, given]) => [name, resolved(given, inherited)] as const);
  return Object.freeze({ ...Object.fromEntries(named), '': common });
}

/** The selected broker. `configErrors` of the feature refuses a name without an entry. */
function selectedOf(options: AuthModuleOptions): option.WithDefaults<ResetBrokerOptions> {
  const brokers = brokersOf(options);
  const name = options.passwordReset?.broker?.trim() ?? '';
  return Object.hasOwn(brokers, name) ? brokers[name]! : brokers['']!;
}

export const PASSWORD_RESET_OPTIONS = {
  features: { passwordReset: option.feature({ default: false, env: 'FEATURE_PASSWORD_RESET' }) },
  rateLimits: { passwordReset: option.rateLimit('RESET', { maxAttempts: 6, decaySeconds: 60 }) },
  passwordReset: option.publicBlock({
    frontendUrl: option.text({
      env: 'RESET_URL',
      or: 'function',
      mailedUrl: {
        cure: 'Set it to the page that the mailed link opens, such as https://app.example.com/reset-password.',
      },
    }),
    revokeSessions: option.flag({ default: true, env: 'RESET_REVOKE_SESSIONS' }),
    expireMinutes: { ...BROKER.expireMinutes, resolve: (_, options) => selectedOf(options).expireMinutes },
    throttleSeconds: { ...BROKER.throttleSeconds, resolve: (_, options) => selectedOf(options).throttleSeconds },
    broker: option.text({ env: 'RESET_BROKER', or: null, resolve: (name) => name?.trim() || null }),
    brokers: option.value({ entries: BROKER, resolve: (_, options) => brokersOf(options) }),
  } satisfies option.TableOf<PasswordResetOptions>),
} satisfies option.OptionTree;
