import { auth } from '../auth.js';
import { h } from '../dom.js';
import { nodes, t } from '../language.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { titled } from '../router.js';
import { changed } from '../user.js';
import { sheet } from './mailed-links.js';

/** Why a link was refused, by the parameter `verification` of this page. */
const REFUSED = {
  invalid: t`This link is not complete. Open it from the email.`,
  expired: t`This link is too old.`,
  outdated: t`This link is for another address.`,
  unavailable: t`We could not confirm the address at the moment. Open the link again in a minute.`,
};

export async function verified() {
  const { link, verification } = linkOf('/verified') ?? {};
  if (verification) return titled(t`Your email is not confirmed`, refused(verification));
  // With a session, the link also proves that a person has opened it. The address is verified without it, too.
  if (link && auth.session) {
    const { pathname, search } = new URL(link);
    await auth.request('POST', pathname + search).catch(() => undefined);
  }
  forgetLink();
  changed();
  return sheet([
    h('p', {}, t`Thank you. You can close this tab, or continue here.`),
    h('p', {}, h('a', { class: 'button primary', href: '#/' }, t`Continue`)),
  ]);
}

const refused = (reason) =>
  sheet([
    h('p', {}, REFUSED[reason] ?? REFUSED.invalid),
    h('p', {}, nodes`You can send a new link from ${h('a', { href: '#/' }, t`your account`)}.`),
  ]);
