/** What a browser says of the page a request comes from. */
export interface PageHeaders {
  /** `Sec-Fetch-Site` (W3C Fetch Metadata). */
  readonly fetchSite: string | undefined;
  /** `Origin` (RFC 6454 §7). */
  readonly origin: string | undefined;
  /** The host, with its port, that the request was sent to. */
  readonly host: string | undefined;
}

/**
 * Whether a request may use or set a cookie: it comes from a page of this very origin or of a listed one, or from
 * no page at all. Pure.
 *
 * Other origins of the same site are foreign, because `SameSite` lets them pass: one forgotten subdomain would do.
 * Browsers that say `Sec-Fetch-Site` are believed, as the host may have been renamed on the way; older ones are
 * judged by `Origin` and host. What sends neither is no browser, and holds no cookie but its own.
 *
 * @param allowed exact origins of other pages that are trusted
 */
export function isOwnPage({ fetchSite, origin, host }: PageHeaders, allowed: readonly string[]): boolean {
  if (origin !== undefined && allowed.includes(origin)) return true;
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none';
  if (origin === undefined) return true;
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
