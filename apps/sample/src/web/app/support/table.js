import { h } from '../dom.js';

/**
 * A table. On a narrow screen each row is a block, and each value has its column's name before it; so the roles are stated.
 *
 * @param columns names; an empty one is that of the buttons
 * @param rows lists of values: nodes, or lists of nodes
 */
export const table = (name, columns, rows) =>
  h(
    'table',
    { role: 'table', 'aria-label': name },
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        columns.map((column) =>
          h('th', { role: 'columnheader', scope: 'col' }, column || h('span', { class: 'away' }, 'Actions')),
        ),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      rows.map((row) => tableRow(columns, row)),
    ),
  );

export const tableRow = (columns, row) =>
  h(
    'tr',
    { role: 'row' },
    row.map((value, i) =>
      h('td', { role: 'cell', 'data-column': columns[i] || null, class: columns[i] ? null : 'ends' }, value),
    ),
  );

/** A part of the account, with its heading and the action for all of it. The focus goes to the heading after an action in it. */
export const section = (id, title, { note, action }, ...nodes) =>
  h(
    'section',
    { class: 'card', id, 'aria-labelledby': `${id}-heading` },
    h('div', { class: 'head' }, h('h2', { id: `${id}-heading`, tabindex: -1 }, title), action),
    note && h('p', { class: 'note' }, note),
    nodes,
  );

export const none = (text) => h('p', { class: 'muted' }, text);
