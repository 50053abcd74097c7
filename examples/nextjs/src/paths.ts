/**
 * A path of a page, as a link or a form names it. The address of another site is none, also where it appears only after the
 * browser has resolved the path: `/.//host`. Nor is a path of the API.
 */
export function pathOf(text: unknown): string {
  const base = 'http://n.invalid';
  if (typeof text !== 'string' || !text.startsWith('/') || !URL.canParse(text, base)) return '/account';
  const { origin, pathname, search } = new URL(text, base);
  return origin === base && !/^\/\/|^\/(auth|api)(\/|$)/.test(pathname) ? pathname + search : '/account';
}
