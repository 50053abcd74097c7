/** A configured URL with parameters added to whatever query it has. */
export const withQuery = (url: string, params: Readonly<Record<string, string>>): string =>
  `${url}${url.includes('?') ? '&' : '?'}${Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`;
