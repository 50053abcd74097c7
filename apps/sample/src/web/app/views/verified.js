import { h } from '../dom.js';
import { changed } from '../user.js';

export function verified() {
  changed();
  return [h('p', {}, 'Thank you. You can close this tab, or ', h('a', { href: '#/' }, 'continue'), '.')];
}
