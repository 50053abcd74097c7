import { h, newId } from '../dom.js';
import { moveMessages, quiet } from '../feedback.js';

/**
 * Shows a modal dialog: the answer that changes something is at the right, and Cancel before it. The browser keeps the focus inside,
 * and gives it back afterwards.
 *
 * @param build `(close, leave) => nodes`; `close(result)` closes the dialog. `leave(form)` puts Cancel into the last row of a form,
 *   and returns nothing; without a form it returns a row
 * @returns the result; null if the operator cancels or is signed out
 */
export function openQuestion(title, build, cancel = 'Cancel') {
  return new Promise((resolve) => {
    const id = newId('question');
    let result = null;
    const dialog = h('dialog', { 'aria-labelledby': id, class: 'question' });
    const close = (given = null) => {
      result = given;
      dialog.close();
    };
    const leave = (form) => {
      const button = h('button', { type: 'button', onclick: () => close() }, cancel);
      if (!form) return h('p', { class: 'row' }, button);
      form.lastChild.prepend(button);
      return null;
    };
    dialog.append(h('h2', { id }, title), ...build(close, leave).filter(Boolean));
    dialog.addEventListener('close', () => {
      moveMessages();
      dialog.remove();
      resolve(result);
    });
    quiet();
    document.body.append(dialog);
    dialog.showModal();
    moveMessages();
  });
}
