import type { GuardConfig } from './auth-config';
import type { AuthModuleOptions, AuthValues, ResetBrokerOptions } from './auth-options';
import { LANGUAGES } from '../platform/language';
import { numberOf } from './bounds';
import { DEFAULTS } from './defaults';

/** The configured name of the application, or the host name of the issuer. */
export function appName({ appName: given, issuer = DEFAULTS.issuer }: AuthValues): string {
  if (given?.trim()) return given.trim();
  return URL.canParse(issuer) ? new URL(issuer).hostname || issuer : issuer;
}

export function resolveTwoFactor(options: AuthValues): GuardConfig['twoFactor'] {
  const { issuer, window, recoveryCodes, challengeTtl, required, enrolmentTtl, trustedDeviceDays } =
    options.twoFactor ?? {};
  const fallback = DEFAULTS.twoFactor;
  return Object.freeze({
    issuer: issuer?.trim() || appName(options),
    window: numberOf('twoFactor.window', window, fallback.window),
    recoveryCodes: numberOf('twoFactor.recoveryCodes', recoveryCodes, fallback.recoveryCodes),
    challengeTtl: numberOf('twoFactor.challengeTtl', challengeTtl, fallback.challengeTtl),
    required: required ?? fallback.required,
    enrolmentTtl: numberOf('twoFactor.enrolmentTtl', enrolmentTtl, fallback.enrolmentTtl),
    trustedDeviceDays: numberOf('twoFactor.trustedDeviceDays', trustedDeviceDays, fallback.trustedDeviceDays),
  });
}

export function resolvePasskeys({
  features,
  ...options
}: AuthValues & Pick<AuthModuleOptions, 'features'>): GuardConfig['passkeys'] {
  const given = options.passkeys ?? {};
  const fallback = DEFAULTS.passkeys;
  return Object.freeze({
    rpName: given.rpName?.trim() || appName(options),
    rpId: given.rpId,
    origins: Object.freeze([...(given.origins ?? fallback.origins)]) as string[],
    challengeTtl: numberOf('passkeys.challengeTtl', given.challengeTtl, fallback.challengeTtl),
    userVerification: given.userVerification ?? (fallback.userVerification as 'required'),
    required: given.required ?? fallback.required,
    maxPerUser: numberOf('passkeys.maxPerUser', given.maxPerUser, fallback.maxPerUser),
    keepLast: given.keepLast ?? features?.passkeyRegistration ?? false,
  });
}

export function resolveEmailVerification(options: AuthValues): GuardConfig['emailVerification'] {
  const { apiUrl, frontendUrl, expire, blockUnverifiedLogin } = options.emailVerification ?? {};
  const fallback = DEFAULTS.emailVerification;
  return Object.freeze({
    apiUrl: apiUrl?.replace(/\/+$/, ''),
    frontendUrl,
    expire: numberOf('emailVerification.expire', expire, fallback.expire),
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
    expireMinutes: numberOf('passwordReset.expireMinutes', given?.expireMinutes, fallback.expireMinutes),
    throttleSeconds: numberOf('passwordReset.throttleSeconds', given?.throttleSeconds, fallback.throttleSeconds),
  });

export function resolveEmailChange(options: AuthValues): GuardConfig['emailChange'] {
  const { confirmUrl, undoUrl, expireMinutes, undoDays } = options.emailChange ?? {};
  const fallback = DEFAULTS.emailChange;
  return Object.freeze({
    confirmUrl,
    undoUrl,
    expireMinutes: numberOf('emailChange.expireMinutes', expireMinutes, fallback.expireMinutes),
    undoDays: numberOf('emailChange.undoDays', undoDays, fallback.undoDays),
  });
}

export function resolveKnownDevices({ knownDevices = {}, mail }: AuthValues): GuardConfig['knownDevices'] {
  const { expireMinutes } = knownDevices;
  return Object.freeze({
    mail: knownDevices.mail ?? Boolean(mail?.mailer),
    frontendUrl: knownDevices.frontendUrl,
    expireMinutes: numberOf('knownDevices.expireMinutes', expireMinutes, DEFAULTS.knownDevices.expireMinutes),
  });
}

export function resolveEmailCode({ emailCode = {} }: AuthValues): GuardConfig['emailCode'] {
  const fallback = DEFAULTS.emailCode;
  return Object.freeze({
    expireMinutes: numberOf('emailCode.expireMinutes', emailCode.expireMinutes, fallback.expireMinutes),
    digits: numberOf('emailCode.digits', emailCode.digits, fallback.digits),
    frontendUrl: emailCode.frontendUrl || undefined,
  });
}

export function resolveRegistration({
  registration,
  features,
}: Pick<AuthModuleOptions, 'registration' | 'features'>): GuardConfig['registration'] {
  const fallback = DEFAULTS.registration;
  const concealExisting = registration?.concealExisting ?? fallback.concealExisting;
  return Object.freeze({
    login: registration?.login ?? fallback.login,
    // It also changes the login, so it has no effect where there is no registration.
    concealExisting: concealExisting && Boolean(features?.registration),
    rules: registration?.rules,
  });
}

export function resolvePasswords(options: AuthValues): GuardConfig['passwords'] {
  const { minLength, blockList, breached } = options.passwords ?? {};
  const fallback = DEFAULTS.passwords;
  return Object.freeze({
    minLength: numberOf('passwords.minLength', minLength, fallback.minLength),
    blockList: new Set((blockList ?? fallback.blockList).map((word) => word.toLowerCase())),
    breached: breached && {
      check: breached.check,
      timeoutMs: numberOf('passwords.breached.timeoutMs', breached.timeoutMs, 1000),
      onOutage: breached.onOutage ?? 'accept',
    },
  });
}

export function resolveMail({ mail = {} }: AuthValues): GuardConfig['mail'] {
  const { mailer, notices, language, texts, templates, accentColor } = mail;
  const fallback = DEFAULTS.mail;
  return Object.freeze({
    mailer,
    notices: notices || [],
    language: language ?? fallback.language,
    texts: texts ?? fallback.texts,
    templates: templates ?? fallback.templates,
    accentColor: accentColor ?? fallback.accentColor,
  });
}

/** The languages of the API's messages. Empty: English, and no header names it. */
export const resolveLanguages = ({ languages = DEFAULTS.languages }: AuthValues): GuardConfig['languages'] =>
  languages === true ? LANGUAGES : languages || [];
