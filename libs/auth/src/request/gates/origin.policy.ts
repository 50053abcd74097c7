/** The request headers that describe the page that sent the request. */
export interface PageHeaders {
  /** `Sec-Fetch-Site` (W3C Fetch Metadata). */
  readonly fetchSite: string | undefined;
  /** `Origin` (RFC 6454 §7). */
  readonly origin: string | undefined;
  /** The host, with its port, that the request was sent to. */
  readonly host: string | undefined;
}

/**
 * Whether a request may use or set a cookie: it comes from a page of the same origin, from a page of a listed origin,
 * or from no page. Pure.
 *
 * Other origins of the same site are foreign: `SameSite` allows them, so one vulnerable subdomain would be enough for
 * an attack. `Sec-Fetch-Site` decides when it is present, because a proxy may change the host. For older browsers,
 * `Origin` is compared with the host. A client that sends neither header is not a browser, and no page can use its
 * cookie.
 *
 * @param allowed origins of other trusted pages, as in `cookie.origins`
 */
export function isOwnPage({ fetchSite, origin, host }: PageHeaders, allowed: readonly string[]): boolean {
  if (origin !== undefined && allowed.some((entry) => isListed(origin, entry))) return true;
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none';
  if (origin === undefined) return true;
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

const WILDCARD = 'https://*.';

/** The asterisk stands for exactly one label (RFC 1123 §2.1), so neither for several labels nor for a part of one. */
function isListed(origin: string, entry: string): boolean {
  if (!entry.startsWith(WILDCARD)) return origin === entry;
  const [, label, parent] = /^https:\/\/([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\.(.+)$/.exec(origin) ?? [];
  return label !== undefined && parent === entry.slice(WILDCARD.length);
}
