import { auth } from '../auth.js';
import { h } from '../dom.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { changed } from '../user.js';

export async function verified() {
  const { link } = linkOf('/verified') ?? {};
  // With a session, the link also proves that a person has opened it. The address is verified without it, too.
  if (link && auth.session) {
    const { pathname, search } = new URL(link);
    await auth.request('POST', pathname + search).catch(() => undefined);
  }
  forgetLink();
  changed();
  return [h('p', {}, 'Thank you. You can close this tab, or ', h('a', { href: '#/' }, 'continue'), '.')];
}
