import type { Type } from '@nestjs/common';
import { option, type settings } from '../../kit';
import type { RegistrationRules } from './registration-rules';

/** Registration. Needs `features.registration`. */
export interface RegistrationOptions {
  /**
   * Signs in the new user immediately.
   *
   * @default true
   * @env SVC_REGISTER_LOGIN
   */
  login?: boolean;

  /**
   * Gives the same answer, 202, whether or not the email has an account, and mails the owner of an existing account. The
   * user is not signed in, and {@link login} has no effect. Until the email is verified, a login is answered as one with a
   * wrong password. Needs `features.emailVerification`, `features.passwordReset` and
   * `emailVerification.blockUnverifiedLogin`, and `email` as the identifier; cannot be combined with `hooks.register`.
   *
   * @default false
   * @env SVC_REGISTER_CONCEAL_EXISTING
   */
  concealExisting?: boolean;

  /**
   * The fields of `POST /register` as a class with the decorators of class-validator. It replaces all default fields, and
   * `hooks.register` gets an instance of it. Needs class-validator; cannot be combined with `hooks.registerRules`, whose
   * rules can depend on the request.
   *
   * @default the name, the identifier and the password
   */
  rules?: Type<object>;
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * `POST /register` and `POST /register/passkey`, together.
     *
     * @default { maxAttempts: 10, decaySeconds: 60 }
     * @env SVC_REGISTER_MAX_ATTEMPTS, SVC_REGISTER_DECAY
     */
    registration?: RateLimit;
  }

  interface AuthHooks {
    /**
     * Creates the account of `POST /register`. It receives the fields that the rules declare and no others; the password
     * is in plain text. It must return a user that it has just created, with the submitted identifier. A user that
     * existed before is answered 500, because the client would be signed in to the account of another person. Needs users
     * with a creation time: an entity with `@CreateDateColumn({ type: 'timestamptz' })`. Resolve to `null` if the
     * identifier was taken in the meantime. `hash` returns the hash of the password to store.
     */
    register?: (
      fields: Readonly<Record<string, unknown>>,
      context: { guard: string; hash: (password: string) => Promise<string> },
    ) => Promise<object | null>;

    /**
     * The fields of `POST /register`. They replace all default fields. Without {@link register}, `name`, the identifier
     * and `password` must be among them. Rules that are the same for each request can be a class: `registration.rules`.
     */
    registerRules?: (request: unknown) => RegistrationRules;
  }
}

declare module '../../foundation/config/auth-config' {
  interface GuardConfig {
    readonly registration: option.WithDefaults<RegistrationOptions, 'rules'>;
  }
}

declare module '../../foundation/config/public-config' {
  interface PublicGuardConfig {
    /** `rules` is a class, so it is not listed. */
    readonly registration: Shown<Omit<settings.GuardConfig['registration'], 'rules'>>;
  }
}

export const REGISTRATION_OPTIONS = {
  features: { registration: option.feature({ default: false, env: 'FEATURE_REGISTRATION' }) },
  rateLimits: { registration: option.rateLimit('REGISTER', { maxAttempts: 10, decaySeconds: 60 }) },
  hooks: { register: option.value(), registerRules: option.value() },
  registration: {
    ...option.publicBlock({
      login: option.flag({ default: true, env: 'REGISTER_LOGIN' }),
      // It also changes the login, so it has no effect where there is no registration.
      concealExisting: option.flag({
        env: 'REGISTER_CONCEAL_EXISTING',
        resolve: (given, { features }) => Boolean(given && features?.registration),
      }),
    }),
    rules: option.value(),
  } satisfies option.TableOf<RegistrationOptions>,
} satisfies option.OptionTree;
