import { urlProblem } from '../security-store/first-connection';
import type { AuthConfig, GuardConfig } from './auth-config';

const isLoopback = (host: string): boolean => /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);

interface UrlRule {
  readonly production: boolean;
  /** Whether a path is appended to the URL; then it must not have a query or a fragment. */
  readonly bare?: boolean;
}

/**
 * Returns why a URL must not be used in mailed links; null for a valid URL. Possession of such a link proves ownership
 * of the address, so it must not travel over plain HTTP, where others can read it.
 */
export function urlFault(text: string | undefined, { production, bare = false }: UrlRule): string | null {
  if (!text) return 'is missing';
  // URL parsers remove some of these characters, and mail clients end the link at them.
  if (/[\p{C}\p{Z}]/u.test(text)) return 'has spaces or control characters';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return `is "${text}", which is not an http(s) URL`;
  if (url.username || url.password) return 'has a user name or a password, which every mail would contain';
  if (bare && /[?#]/.test(text)) return `is "${text}", which has a query or a fragment`;
  if (url.protocol === 'https:' || (!production && isLoopback(url.hostname))) return null;
  return production
    ? `is "${text}": in production, mailed links must use https`
    : `is "${text}": http is allowed only for localhost, outside production`;
}

/** The features that send mails. */
const MAILING = ['passwordReset', 'emailVerification', 'emailChange', 'emailCode'] as const;

/** Returns the configuration errors of the features of a guard that send mails, each with its correction. */
export function mailErrors(
  { features, emailVerification, passwordReset, emailChange, emailCode, mail }: GuardConfig,
  { key }: AuthConfig['encryption'],
  production: boolean,
): string[] {
  const { apiUrl, frontendUrl } = emailVerification;
  const ofReset = features.passwordReset && urlFault(passwordReset.frontendUrl, { production });
  const ofApi = features.emailVerification && urlFault(apiUrl, { production, bare: true });
  const ofPage = features.emailVerification && frontendUrl !== undefined && urlFault(frontendUrl, { production });
  const ofCode =
    features.emailCode && emailCode.frontendUrl !== undefined && codePageFault(emailCode.frontendUrl, production);
  const ofConfirm = features.emailChange && urlFault(emailChange.confirmUrl, { production });
  const ofUndo = features.emailChange && urlFault(emailChange.undoUrl, { production });
  const mailing = MAILING.find((name) => features[name]);
  return [
    ofReset &&
      `passwordReset.frontendUrl (SVC_RESET_URL) ${ofReset}. Set it to the page that the mailed link opens, such as https://app.example.com/reset-password.`,
    ofApi &&
      `emailVerification.apiUrl (SVC_VERIFY_API_URL) ${ofApi}. Set it to the external URL of this API, such as https://api.example.com: mailed links begin with it.`,
    ofPage &&
      `emailVerification.frontendUrl (SVC_VERIFY_URL) ${ofPage}. Set it to the page to which browsers are redirected, or remove it.`,
    ofConfirm &&
      `emailChange.confirmUrl (SVC_EMAIL_CHANGE_CONFIRM_URL) ${ofConfirm}. Set it to the page that the link to the new address opens, such as https://app.example.com/confirm-email.`,
    ofUndo &&
      `emailChange.undoUrl (SVC_EMAIL_CHANGE_UNDO_URL) ${ofUndo}. Set it to the page that the link to the former address opens, such as https://app.example.com/undo-email.`,
    ofCode &&
      `emailCode.frontendUrl (SVC_CODE_URL) ${ofCode}. Set it to the page that the mailed link opens, such as https://app.example.com/sign-in, or remove it.`,
    features.emailVerification &&
      !key &&
      'features.emailVerification needs encryption.key (SVC_ENCRYPTION_KEY): its links are signed with it. Generate one with npx svc-auth secret --show, and do not use the value of secret.',
    mailing &&
      !mail.mailer &&
      `features.${mailing} needs mail.mailer. Set it to nodemailerMailer(transport, from), or to your own Mailer.`,
    mailing &&
      mail.mailer &&
      typeof mail.mailer.send !== 'function' &&
      'mail.mailer has no method send. Wrap a transporter of nodemailer: nodemailerMailer(transport, from).',
  ].filter((text): text is string => typeof text === 'string');
}

/** The code is in the fragment of the link, which browsers send to no server. */
const codePageFault = (url: string, production: boolean): string | null =>
  urlFault(url, { production }) ?? (url.includes('#') ? `is "${url}", which has a fragment` : null);

/** Returns the configuration errors of `redis.url`. The text does not contain the URL, which may contain a password. */
export function redisErrors({ redisUrl }: Pick<AuthConfig, 'redisUrl'>): string[] {
  // A function is called before each connection, and what it returns is checked then.
  const fault = redisUrl === undefined || typeof redisUrl === 'function' ? null : urlProblem(redisUrl);
  return fault === null ? [] : [`redis.url (SVC_REDIS_URL) ${fault}`];
}

/** Returns the configuration errors of `keys.jwks`, each with its correction. */
export const keySetErrors = ({ guards, routes }: AuthConfig, production: boolean): string[] =>
  guards.flatMap((guard) => (guard.keys.jwks === undefined ? [] : jwksErrors(guard, routes, production)));

function jwksErrors({ keys, algorithm, nameOf }: GuardConfig, routes: boolean, production: boolean): string[] {
  const option = `${nameOf('keys.jwks')} (SVC_JWKS_URL)`;
  const fault = sourceFault(keys.jwks, production);
  return [
    (keys.private || Object.keys(keys.public).length > 0) &&
      `${option} cannot be combined with keys.private and keys.public: keys have one source. Remove one of them.`,
    algorithm === 'HS256' &&
      `${option} needs an algorithm with public keys. Set algorithm (SVC_ALGORITHM) to the issuer's, ES256 or RS256.`,
    routes &&
      `${option} is for services that only verify tokens, but the routes sign tokens. Set routes to false, or set keys.private and keys.public instead.`,
    fault &&
      `${option} ${fault}. Set it to the URL of the issuer's key set, such as https://api.example.com/auth/jwks.`,
  ].filter((text): text is string => typeof text === 'string');
}

/** The message never contains the URL, because the URL may contain a password. */
function sourceFault(jwks: unknown, production: boolean): string | null {
  if (typeof jwks === 'function') return null;
  const url = typeof jwks === 'string' && URL.canParse(jwks) ? new URL(jwks) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'is neither an http(s) URL nor a function';
  if (url.username || url.password) return 'has a user name or a password in it';
  if (url.protocol === 'https:' || !production || isLoopback(url.hostname)) return null;
  return 'uses http: an attacker on the network could replace the keys, so production requires https';
}
