/** What a mailed link brought along. Kept in memory, for the form that sends it. */
let link = null;

/** The token and the address of a link to reset a password; null without one. */
export const resetLink = () => link;

export const forgetLink = () => (link = null);

/** Takes a mailed link out of the address bar, where others could read it: over a shoulder, in the history, in a sync. */
export function takeLink() {
  const { pathname, searchParams } = new URL(location.href);
  if (pathname === '/') return;
  if (pathname === '/reset-password') link = { token: searchParams.get('token'), email: searchParams.get('email') };
  history.replaceState(null, '', `/#${pathname}`);
}
