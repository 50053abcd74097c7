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

/** The error of a feature that sends mails while no mailer is set. */
export const noMailer = (feature: string): string =>
  `features.${feature} needs mail.mailer. Set it to nodemailerMailer(transport, from), or to your own Mailer.`;

/** Keeps the texts of the checks that failed. */
export const failed = (...all: (string | false | null)[]): string[] =>
  all.filter((text): text is string => typeof text === 'string');
