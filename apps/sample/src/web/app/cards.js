import { h } from './dom.js';

/** A list of cards of one size. */
export const cards = (rows) => h('ul', { class: 'cards' }, rows);

/**
 * A card of a list: its name, what is known about it, and what can be done with it.
 *
 * @param heading the element of the name
 * @param facts `[what, ...value]`; those that are false are left out
 */
export const card = (heading, name, facts, ...actions) =>
  h(
    'li',
    { class: 'card' },
    h(heading, {}, name),
    h(
      'dl',
      { class: 'facts' },
      facts.filter(Boolean).map(([what, ...value]) => h('div', {}, h('dt', {}, what), h('dd', {}, value))),
    ),
    h('p', { class: 'row' }, actions),
  );

export const badge = (text, kind = '') => h('span', { class: `badge ${kind}` }, text);
