import type { AuthConfig, GuardConfig } from './auth-config';

/**
 * Why an account's life cannot be served as it is configured, each with its cure. Its routes are the default guard's.
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
      `passwordReset.frontendUrl (SVC_RESET_URL) ${fault}. Name the page that the mailed link opens, such as https://app.example.com/reset-password.`,
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
      `emailVerification.apiUrl (SVC_VERIFY_API_URL) ${ofApi}. Name the URL that this API is reached at, such as https://api.example.com: mailed links begin with it.`,
    ofPage &&
      `emailVerification.frontendUrl (SVC_VERIFY_URL) ${ofPage}. Name the page that browsers are sent to, or leave it out.`,
    !key &&
      'features.emailVerification needs encryption.key (SVC_ENCRYPTION_KEY): its links are signed with it. Make one with svc:secret --show, and keep it apart from secret.',
    !mail.mailer && noMailer('emailVerification'),
  );
}

interface UrlRule {
  readonly production: boolean;
  /** Whether a path is put behind it, which a query or a fragment of its own would take in. */
  readonly bare?: boolean;
}

/**
 * Why links must not be mailed that begin with a URL; null for one that will do. Whoever reads such a link on its
 * way is taken for the owner of the address: over plain HTTP that is everybody in between.
 */
export function urlFault(text: string | undefined, { production, bare = false }: UrlRule): string | null {
  if (!text) return 'is missing';
  // URL parsers drop some of them; a mail breaks the link there.
  if (/[\p{C}\p{Z}]/u.test(text)) return 'has spaces or control characters';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return `is "${text}", which is no http(s) URL`;
  if (url.username || url.password) return 'has a user name or a password, which everybody would be mailed';
  if (bare && /[?#]/.test(text)) return `is "${text}", which has a query or a fragment`;
  if (url.protocol === 'https:' || (!production && isLocal(url.hostname))) return null;
  return production
    ? `is "${text}": production mails https links only`
    : `is "${text}": http is for localhost, outside production`;
}

const isLocal = (host: string): boolean => /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);

const noMailer = (feature: string): string =>
  `features.${feature} needs mail.mailer. Give it nodemailerMailer(transport, from), or a Mailer of your own.`;

const texts = (...all: (string | false | null)[]): string[] =>
  all.filter((text): text is string => typeof text === 'string');
