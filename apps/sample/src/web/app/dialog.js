import { h, newId } from './dom.js';
import { action, moveMessages, quiet } from './feedback.js';
import { form } from './form.js';
import { t } from './language.js';

/**
 * Shows a modal dialog. The browser keeps the focus inside and restores it afterwards.
 *
 * @param name the class of the dialog, if it has one
 * @param fill `(dialog, close)` appends what is below the title; `close(result)` closes the dialog
 * @returns the result; null if the user cancels or is signed out
 */
export function modal(title, fill, name) {
  return new Promise((resolve) => {
    const id = newId('dialog');
    let result = null;
    const dialog = h('dialog', { 'aria-labelledby': id, class: name }, h('h2', { id }, title));
    fill(dialog, (given = null) => {
      result = given;
      dialog.close();
    });
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

/**
 * Adds a button that changes nothing, on the left of the button of the form. Without a form, it is below all.
 *
 * @param nodes content of a dialog, with a form as of `form`, or with a row of buttons
 * @param props of the button
 */
export function withCancel(nodes, close, { leave = t`Cancel`, ...props } = {}) {
  const cancel = h('button', { type: 'button', onclick: () => close(), ...props }, leave);
  const last = nodes.find((node) => node?.matches?.('form, .row'));
  const answers = last?.matches('form') ? last.lastChild : last;
  if (!answers) return [...nodes, cancel];
  answers.classList.add('answers');
  answers.prepend(cancel);
  return nodes;
}

/**
 * Shows a modal dialog with a button that changes nothing.
 *
 * @param build `(close) => nodes`
 * @param leave the text of the button
 * @param name as of {@link modal}
 */
export const openDialog = (title, build, leave, name) =>
  modal(title, (dialog, close) => dialog.append(...withCancel(build(close), close, { leave })), name);

/** Closes all dialogs: the next user must not answer a question to the previous one. */
export function closeDialogs() {
  document.querySelectorAll('dialog').forEach((dialog) => dialog.close());
  moveMessages();
}

/** Asks before an action that cannot be undone. @returns the values of the fields; null if the user cancels */
export const ask = (title, text, label, { fields = [], danger = true } = {}) =>
  modal(title, (dialog, close) => {
    const entry = form(fields, { label, danger, work: async (values) => close(values) });
    // Nothing is destroyed by a key that was pressed too often.
    dialog.append(...withCancel([h('p', {}, text), entry], close, { autofocus: danger }));
  });

/** What the user was about to do, and with which account. @param more further rows */
export const asked = (account, doing = action, ...more) =>
  h(
    'dl',
    {},
    [doing && [t`Action`, h('strong', {}, doing)], [t`Account`, account], ...more]
      .filter(Boolean)
      .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
