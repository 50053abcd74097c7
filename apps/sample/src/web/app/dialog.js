import { h, newId } from './dom.js';
import { moveMessages, quiet } from './feedback.js';
import { form } from './form.js';
import { t } from './language.js';

/**
 * Shows a modal dialog, whose last button changes nothing. The browser keeps the focus inside and restores it afterwards.
 *
 * @param build `(close) => nodes`; `close(result)` closes the dialog
 * @param leave the text of the last button
 * @returns the result; null if the user cancels or is signed out
 */
export function openDialog(title, build, leave = t`Cancel`) {
  return new Promise((resolve) => {
    const id = newId('dialog');
    let result = null;
    const dialog = h('dialog', { 'aria-labelledby': id });
    const close = (given = null) => {
      result = given;
      dialog.close();
    };
    dialog.append(h('h2', { id }, title), ...build(close));
    // Nothing is destroyed by a key that was pressed too often.
    const autofocus = dialog.querySelector('.danger') !== null;
    dialog.append(h('button', { type: 'button', class: 'quiet wide', autofocus, onclick: () => close() }, leave));
    dialog.addEventListener('close', () => {
      moveMessages();
      dialog.remove();
      resolve(result);
    });
    // A message about something before is not about the question.
    quiet();
    document.body.append(dialog);
    dialog.showModal();
    moveMessages();
  });
}

/** Closes all dialogs: the next user must not answer a question to the previous one. */
export function closeDialogs() {
  document.querySelectorAll('dialog').forEach((dialog) => dialog.close());
  moveMessages();
}

/** Asks before an action that cannot be undone. @returns the values of the fields; null if the user cancels */
export const ask = (title, text, label, { fields = [], danger = true } = {}) =>
  openDialog(title, (close) => [
    h('p', {}, text),
    form(fields, { label, danger, work: async (values) => close(values) }),
  ]);
