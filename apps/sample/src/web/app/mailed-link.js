import { account } from './auth.js';

/** `{ path, ...parameters }` of a link in a mail. It is kept in memory for the form that sends the parameters. */
let link = null;

/** The parameters of the mailed link to a view, or null. */
export const linkOf = (path) => (link?.path === path ? link : null);

export const forgetLink = () => (link = null);

/** A verification link that was opened without a session. */
const inFragment = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

/** Removes the token or the code of a link from the URL: the browser stores URLs in its history and synchronizes them. */
export function takeLink() {
  const { pathname, searchParams } = new URL(location.href);
  const code = account.codeInAddress();
  if (code) link = { path: '/sign-in-code', code };
  else if (pathname !== '/')
    link = { ...Object.fromEntries(searchParams), ...inFragment(), path: pathname, search: location.search };
  if (link) history.replaceState(null, '', `/#${link.path}`);
}
