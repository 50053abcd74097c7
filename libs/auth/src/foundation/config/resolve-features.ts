import type { GuardConfig } from './auth-config';
import type { AuthModuleOptions, AuthValues, ResetBrokerOptions } from './auth-options';
import { DEFAULTS } from './defaults';
import { wholeNumber } from './merge';

/** Maximum lifetime of a challenge in seconds: one day. */
const LONGEST_CHALLENGE = 86_400;

/** Maximum lifetime of a mailed link in minutes: one year. */
const LONGEST_LINK = 525_600;

/** Maximum validity of a reset link in minutes: a week. Who reads the mail later can set a password with it. */
export const LONGEST_RESET = 10_080;

/** Maximum pause between two mails to one account in seconds: one day. */
const LONGEST_PAUSE = 86_400;

/**
 * Maximum number of steps before and after the current one (5 minutes). A larger window lets an observed code be
 * replayed.
 */
const WIDEST_WINDOW = 10;

/** The configured name of the application, or the host name of the issuer. */
export function appName({ appName: given, issuer = DEFAULTS.issuer }: AuthValues): string {
  if (given?.trim()) return given.trim();
  return URL.canParse(issuer) ? new URL(issuer).hostname || issuer : issuer;
}

export function resolveTwoFactor(options: AuthValues): GuardConfig['twoFactor'] {
  const { issuer, window, recoveryCodes, challengeTtl } = options.twoFactor ?? {};
  const fallback = DEFAULTS.twoFactor;
  return Object.freeze({
    issuer: issuer?.trim() || appName(options),
    window: wholeNumber(window, fallback.window, 0, WIDEST_WINDOW),
    recoveryCodes: wholeNumber(recoveryCodes, fallback.recoveryCodes, 1, 100),
    challengeTtl: wholeNumber(challengeTtl, fallback.challengeTtl, 1, LONGEST_CHALLENGE),
  });
}

/** A list of passkeys is not divided into pages, and the options of a registration contain all of them. */
const MOST_PASSKEYS = 1000;

export function resolvePasskeys(options: AuthValues): GuardConfig['passkeys'] {
  const given = options.passkeys ?? {};
  const fallback = DEFAULTS.passkeys;
  return Object.freeze({
    rpName: given.rpName?.trim() || appName(options),
    rpId: given.rpId,
    origins: Object.freeze([...(given.origins ?? fallback.origins)]) as string[],
    challengeTtl: wholeNumber(given.challengeTtl, fallback.challengeTtl, 1, LONGEST_CHALLENGE),
    userVerification: given.userVerification ?? (fallback.userVerification as 'required'),
    required: given.required ?? fallback.required,
    maxPerUser: wholeNumber(given.maxPerUser, fallback.maxPerUser, 1, MOST_PASSKEYS),
  });
}

export function resolveEmailVerification(options: AuthValues): GuardConfig['emailVerification'] {
  const { apiUrl, frontendUrl, expire, blockUnverifiedLogin } = options.emailVerification ?? {};
  const fallback = DEFAULTS.emailVerification;
  return Object.freeze({
    apiUrl: apiUrl?.replace(/\/+$/, ''),
    frontendUrl,
    expire: wholeNumber(expire, fallback.expire, 1, LONGEST_LINK),
    blockUnverifiedLogin: blockUnverifiedLogin ?? fallback.blockUnverifiedLogin,
  });
}

export function resolvePasswordReset(options: AuthValues): GuardConfig['passwordReset'] {
  const { frontendUrl, revokeSessions, broker: name, brokers: given = {}, ...own } = options.passwordReset ?? {};
  const fallback = DEFAULTS.passwordReset;
  const broker = name?.trim() || fallback.broker;
  const common = resetBroker(own, fallback);
  const brokers: GuardConfig['passwordReset']['brokers'] = Object.freeze({
    ...Object.fromEntries(Object.entries(given).map(([entry, values]) => [entry, resetBroker(values, common)])),
    '': common,
  });
  return Object.freeze({
    frontendUrl,
    revokeSessions: revokeSessions ?? fallback.revokeSessions,
    broker,
    brokers,
    // `configErrors` of the feature refuses a name without an entry.
    ...(broker !== null && Object.hasOwn(brokers, broker) ? brokers[broker]! : common),
  });
}

const resetBroker = (given: ResetBrokerOptions | null, fallback: Required<ResetBrokerOptions>) =>
  Object.freeze({
    expireMinutes: wholeNumber(given?.expireMinutes, fallback.expireMinutes, 1, LONGEST_RESET),
    throttleSeconds: wholeNumber(given?.throttleSeconds, fallback.throttleSeconds, 0, LONGEST_PAUSE),
  });

export function resolveRegistration({
  registration = {},
  features = {},
}: Pick<AuthModuleOptions, 'registration' | 'features'>): GuardConfig['registration'] {
  const { login, concealExisting } = { ...DEFAULTS.registration, ...registration };
  // It also changes the login, so it has no effect where there is no registration.
  return Object.freeze({ login, concealExisting: concealExisting && features.registration === true });
}

/** Bounds of the minimum length: 8 is the minimum of NIST SP 800-63B §3.1.1.2, 255 is the maximum length of a field. */
const PASSWORD_LENGTHS = [8, 255] as const;

export function resolvePasswords(options: AuthValues): GuardConfig['passwords'] {
  const { minLength, blockList, breached } = options.passwords ?? {};
  const fallback = DEFAULTS.passwords;
  return Object.freeze({
    minLength: wholeNumber(minLength, fallback.minLength, ...PASSWORD_LENGTHS),
    blockList: new Set((blockList ?? fallback.blockList).map((word) => word.toLowerCase())),
    breached: breached && {
      check: breached.check,
      timeoutMs: wholeNumber(breached.timeoutMs, 1000, 1),
      onOutage: breached.onOutage ?? 'accept',
    },
  });
}

export const resolveMail = (options: AuthValues): GuardConfig['mail'] =>
  Object.freeze({ mailer: options.mail?.mailer, templates: options.mail?.templates ?? DEFAULTS.mail.templates });
