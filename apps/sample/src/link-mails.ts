import type { MailTemplates } from '@svc/auth';
import type { User } from './users/user.entity';

/** The parts of a user agent by which the page names a device. */
const KNOWN = /Edg|OPR|Firefox|HeadlessChrome|Chrome|Safari|curl|Android|iPhone|iPad|Windows|Mac OS|Linux/g;

type Written = Parameters<MailTemplates['newSignIn']>[1];

/** A built-in mail whose link also says what it is about. In the fragment: browsers do not send it to servers. */
const about = (url: string | null, details: Record<string, string>, mail: Written): Written => {
  if (url === null) return mail;
  const link = `${url}#${new URLSearchParams(details)}`;
  // The address that is printed for a browser without links works without it.
  const href = (address: string) => `href="${address.replaceAll('&', '&amp;')}"`;
  const { text, html } = mail;
  return {
    ...mail,
    text: text.replaceAll(url, () => link),
    ...(html !== undefined && { html: html.replaceAll(href(url), () => href(link)) }),
  };
};

/** Names for the page the accounts, addresses and sign-ins that it asks about. */
export const linkMails: Partial<MailTemplates> = {
  newSignIn: ({ url, to, time, ip, userAgent }, mail) => {
    const agent = userAgent?.match(KNOWN)?.join(' ') ?? '';
    return about(url, { account: to, at: time.toISOString(), ip: ip ?? '', agent }, mail);
  },
  emailChange: ({ url, user, to }, mail) => about(url, { account: (user as User).email, email: to }, mail),
  emailChanged: ({ url, to, newEmail }, mail) => about(url, { account: newEmail, email: to }, mail),
};
