import type { AuthConfig, GuardConfig } from './auth-config';

/**
 * Returns the configuration errors of password reset and email verification, each with its correction. Only the default
 * guard has these routes.
 */
export function accountRefusals({ guards, encryption, routes }: AuthConfig, production: boolean): string[] {
  const config = guards.find(({ isDefault }) => isDefault);
  if (!config || !routes) return [];
  return [...passwordReset(config, production), ...emailVerification(config, encryption.key, production)];
}

function passwordReset({ features, passwordReset: { frontendUrl }, mail }: GuardConfig, production: boolean): string[] {
  if (!features.passwordReset) return [];
  const fault = urlFault(frontendUrl, { production });
  return texts(
    fault &&
      `passwordReset.frontendUrl (SVC_RESET_URL) ${fault}. Set it to the page that the mailed link opens, such as https://app.example.com/reset-password.`,
    !mail.mailer && noMailer('passwordReset'),
  );
}

function emailVerification(config: GuardConfig, key: string | undefined, production: boolean): string[] {
  const {
    features,
    emailVerification: { apiUrl, frontendUrl },
    mail,
  } = config;
  if (!features.emailVerification) return [];
  const ofApi = urlFault(apiUrl, { production, bare: true });
  const ofPage = frontendUrl === undefined ? null : urlFault(frontendUrl, { production });
  return texts(
    ofApi &&
      `emailVerification.apiUrl (SVC_VERIFY_API_URL) ${ofApi}. Set it to the external URL of this API, such as https://api.example.com: mailed links begin with it.`,
    ofPage &&
      `emailVerification.frontendUrl (SVC_VERIFY_URL) ${ofPage}. Set it to the page to which browsers are redirected, or remove it.`,
    !key &&
      'features.emailVerification needs encryption.key (SVC_ENCRYPTION_KEY): its links are signed with it. Generate one with svc:secret --show, and do not use the value of secret.',
    !mail.mailer && noMailer('emailVerification'),
  );
}

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
  if (url.protocol === 'https:' || (!production && isLocal(url.hostname))) return null;
  return production
    ? `is "${text}": in production, mailed links must use https`
    : `is "${text}": http is allowed only for localhost, outside production`;
}

const isLocal = (host: string): boolean => /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);

const noMailer = (feature: string): string =>
  `features.${feature} needs mail.mailer. Set it to nodemailerMailer(transport, from), or to your own Mailer.`;

const texts = (...all: (string | false | null)[]): string[] =>
  all.filter((text): text is string => typeof text === 'string');
