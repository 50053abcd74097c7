/** The parameters of a link in a mail. They are kept in memory for the form that sends them. */
let link = null;

/** `{ token, email }` of a password reset link, or null. */
export const resetLink = () => link;

export const forgetLink = () => (link = null);

/** Removes the token of a link from the URL: the browser stores URLs in its history and synchronizes them. */
export function takeLink() {
  const { pathname, searchParams } = new URL(location.href);
  if (pathname === '/') return;
  if (pathname === '/reset-password') link = { token: searchParams.get('token'), email: searchParams.get('email') };
  history.replaceState(null, '', `/#${pathname}`);
}
