import type { MailTemplates } from '@svc/auth';

/** The parts of a user agent by which the page names a device. */
const KNOWN = /Edg|OPR|Firefox|HeadlessChrome|Chrome|Safari|curl|Android|iPhone|iPad|Windows|Mac OS|Linux/g;

/**
 * The built-in mail about a sign-in, whose link also names for the page the sign-in that it asks about. In the fragment: browsers do
 * not send it to servers.
 */
export const signInMail: MailTemplates['newSignIn'] = ({ url, time, ip, userAgent }, { text, html, ...rest }) => {
  const agent = userAgent?.match(KNOWN)?.join(' ') ?? '';
  const link = `${url}#${new URLSearchParams({ at: time.toISOString(), ip: ip ?? '', agent })}`;
  const escaped = (address: string) => address.replaceAll('&', '&amp;');
  return {
    ...rest,
    text: text.replaceAll(url, () => link),
    ...(html !== undefined && { html: html.replaceAll(escaped(url), () => escaped(link)) }),
  };
};
