import { h } from './dom.js';
import { stylesheet } from './stylesheet.js';

await stylesheet('items.css');

/** A list of things that can be ended or deleted. */
export const items = (rows) => h('ul', { class: 'items' }, rows);

/** An icon beside a name with its badges, which wrap below the name. */
function titled(name) {
  const parts = [name].flat().filter(Boolean);
  const icons = parts.filter(({ localName }) => localName === 'svg');
  const others = parts.filter(({ localName }) => localName !== 'svg');
  return [...icons, h('span', {}, others)];
}

/**
 * A row of a list: its name, what is known about it, and what can be done with it.
 *
 * @param heading the element of the name
 * @param facts `[what, ...value]`; those that are false are left out
 */
export const item = (heading, name, facts, ...actions) =>
  h(
    'li',
    {},
    h(heading, {}, ...titled(name)),
    h(
      'dl',
      { class: 'facts' },
      facts.filter(Boolean).map(([what, ...value]) => h('div', {}, h('dt', {}, what), h('dd', {}, value))),
    ),
    h('p', { class: 'row' }, actions),
  );

export const badge = (text, kind = '') => h('span', { class: `badge ${kind}` }, text);
