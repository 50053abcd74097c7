import { auth } from '../auth.js';
import { h } from '../dom.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { present } from '../router.js';
import { changed } from '../user.js';

/** Why a link was refused, by the parameter `verification` of this page. */
const REFUSED = {
  invalid: 'This link is not complete. Please open it from the mail.',
  expired: 'This link is too old.',
  outdated: 'This link is for another address.',
  unavailable: 'The address could not be confirmed at the moment. Please open the link again in a minute.',
};

export async function verified() {
  const { link, verification } = linkOf('/verified') ?? {};
  const home = (text) => h('a', { href: '#/' }, text);
  if (verification) return present('Your address is not confirmed', () => refused(verification, home('your account')));
  // With a session, the link also proves that a person has opened it. The address is verified without it, too.
  if (link && auth.session) {
    const { pathname, search } = new URL(link);
    await auth.request('POST', pathname + search).catch(() => undefined);
  }
  forgetLink();
  changed();
  return [h('p', {}, 'Thank you. You can close this tab, or ', home('continue'), '.')];
}

const refused = (reason, home) => [
  h('p', {}, REFUSED[reason] ?? REFUSED.invalid),
  h('p', {}, 'You can ask for a new link in ', home, '.'),
];
