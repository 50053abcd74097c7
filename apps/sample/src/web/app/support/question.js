import { modal } from '../dialog.js';
import { h } from '../dom.js';

/**
 * Shows a modal dialog, whose answer that changes something is on the right of Cancel.
 *
 * @param build `(close, leave) => nodes`; `close(result)` closes the dialog. `leave(form)` puts Cancel into the last row of a form,
 *   and returns nothing; without a form it returns the button
 * @returns the result; null if the operator cancels or is signed out
 */
export const openQuestion = (title, build, cancel = 'Cancel') =>
  modal(
    title,
    (dialog, close) => {
      const leave = (form) => {
        const button = h('button', { type: 'button', onclick: () => close() }, cancel);
        if (!form) return button;
        form.lastChild.classList.add('answers');
        form.lastChild.prepend(button);
        return null;
      };
      dialog.append(...build(close, leave).filter(Boolean));
    },
    'question',
  );
