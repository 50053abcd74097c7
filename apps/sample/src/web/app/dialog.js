import { h, newId } from './dom.js';
import { form } from './form.js';

/**
 * Shows a dialog. The browser keeps the focus in it, and gives it back afterwards.
 *
 * @param build `(close) => nodes`, where `close(result)` ends it
 * @returns the result; null when the user leaves it, or is not signed in any more
 */
export function openDialog(title, build) {
  return new Promise((resolve) => {
    const id = newId('dialog');
    let result = null;
    const dialog = h('dialog', { 'aria-labelledby': id });
    const close = (given = null) => {
      result = given;
      dialog.close();
    };
    dialog.append(h('h2', { id }, title), ...build(close));
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** What was asked of one user is not for the next one to answer. */
export const closeDialogs = () => document.querySelectorAll('dialog').forEach((dialog) => dialog.close());

export const cancel = (close) => h('button', { type: 'button', onclick: () => close() }, 'Cancel');

/** Asks before something that cannot be undone, and for the fields it takes. Resolves their values, or null. */
export const ask = (title, text, label, { fields = [], danger = true } = {}) =>
  openDialog(title, (close) => [
    h('p', {}, text),
    form(fields, { label, danger, work: async (values) => close(values) }, cancel(close)),
  ]);
