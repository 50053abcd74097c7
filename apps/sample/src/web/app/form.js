import { config } from './config.js';
import { duration, h, newId } from './dom.js';
import { isSilent, quiet, textOf } from './feedback.js';
import { t } from './language.js';

/** Why the browser does not send a value, in the language of the page. */
const flawIn = ({ input, input: { validity }, flaw }) =>
  validity.valueMissing || validity.badInput
    ? (input.pattern && flaw) || t`Fill in this field.`
    : validity.typeMismatch
      ? t`Enter an email address, such as name@example.com.`
      : flaw;

/**
 * A form. Each error of the API is shown once: at its field, which gets the focus, or above the form.
 *
 * @param fields `{ name, label, hint?, flaw?, ...attributes of the input }`; those that are undefined or false are left out. The
 *   value of a checkbox is a boolean. `flaw` says what a value must be, if the hint does not
 * @param submit `{ label, work(values), danger?, isSecond?, isWhole? }`; an error of `work` is shown. With `isWhole`,
 *   it is shown above the form, because it is not about one field, and the password has the focus. With `isSecond`, another button is the first choice
 * @param more elements after the button, such as one that changes nothing
 */
export function form(fields, submit, ...more) {
  const summary = h('div', { id: newId('summary'), class: 'summary', role: 'alert', tabindex: -1 });
  const rows = fields.filter(Boolean).map(field);
  const button = h(
    'button',
    { class: submit.danger ? 'danger' : submit.isSecond ? 'second' : 'primary' },
    submit.label,
  );
  const element = h(
    'form',
    { method: 'post' },
    summary,
    rows.map(({ row }) => row),
    h('p', { class: 'row' }, button, more),
  );

  const rowOf = ({ target }) => rows.find(({ input }) => input === target);
  element.addEventListener('input', (event) => rowOf(event)?.show());
  // Instead of the bubble of the browser, which has the language of the browser. The event does not bubble, either.
  const invalid = (event) => {
    event.preventDefault();
    quiet();
    const row = rowOf(event);
    row?.show(flawIn(row));
    element.querySelector('input:invalid').focus();
  };
  element.addEventListener('invalid', invalid, true);

  let busy = false;
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    button.setAttribute('aria-busy', 'true');
    clear();
    try {
      const checks = rows
        .filter(({ input }) => input.type === 'checkbox')
        .map(({ name, input }) => [name, input.checked]);
      await submit.work({ ...Object.fromEntries(new FormData(element)), ...Object.fromEntries(checks) });
    } catch (error) {
      if (!isSilent(error)) refuse(error);
    } finally {
      busy = false;
      button.removeAttribute('aria-busy');
    }
  });

  function clear() {
    quiet();
    for (const { show } of rows) show();
  }

  function refuse(error) {
    const errors = Object.entries(error.errors ?? {});
    const shown = submit.isWhole ? [] : errors.flatMap(([name]) => rows.find((row) => row.name === name) ?? []);
    for (const row of shown) row.show(error.errors[row.name][0]);
    const others = errors.filter(([name]) => !shown.some((row) => row.name === name)).map(([, [text]]) => text);
    if (shown.length === 0 || others.length > 0)
      summary.replaceChildren(...(others.length ? others : [textOf(error)]).map((text) => h('p', {}, text)));
    const again = submit.isWhole && errors.length ? element.elements.password : shown[0]?.input;
    (again ?? summary).focus();
    if (!submit.isWhole) return;
    // Screen readers that read the new focus can skip the alert.
    again?.setAttribute('aria-describedby', summary.id);
    again?.select();
  }

  return element;
}

/** A label, an input and the place of its error: `{ name, row, input, flaw, show(error) }`. */
export function field({ name, label, hint, flaw = hint, type = 'text', ...attributes }) {
  const id = newId(name);
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const described = (...ids) => ids.filter(Boolean).join(' ') || null;
  const error = h('p', { id: errorId, class: 'error' });
  const isCheck = type === 'checkbox';
  const base = { id, name, type, required: !isCheck, 'aria-describedby': hint && hintId, ...attributes };
  const input = h('input', base);
  const caption = [h('label', { for: id }, label), hint && h('p', { id: hintId, class: 'hint' }, hint)];
  const row = h(
    'div',
    { class: isCheck ? 'field check' : 'field' },
    isCheck && input,
    caption,
    !isCheck && (type === 'password' ? h('div', { class: 'secret' }, input, reveal(input, label)) : input),
    error,
  );
  const show = (text = '') => {
    error.textContent = text;
    input.toggleAttribute('aria-invalid', false);
    if (text) input.setAttribute('aria-invalid', 'true');
    const ids = described(hint && hintId, text && errorId);
    if (ids) input.setAttribute('aria-describedby', ids);
    else input.removeAttribute('aria-describedby');
  };
  return { name, row, input, flaw, show };
}

/** A button that shows the password, so that the user types it only once. */
function reveal(input, label) {
  const button = h(
    'button',
    { type: 'button', class: 'quiet', 'aria-pressed': 'false', 'aria-label': t`Show: ${label}` },
    t`Show`,
  );
  button.addEventListener('click', () => {
    const shown = input.type === 'password';
    input.type = shown ? 'text' : 'password';
    button.setAttribute('aria-pressed', String(shown));
  });
  return button;
}

/** Fields of several forms. */
export const EMAIL = { name: 'email', label: t`Email`, type: 'email', autocomplete: 'username', maxlength: 255 };
export const PASSWORD = { name: 'password', label: t`Password`, type: 'password', autocomplete: 'current-password' };
export const NEW_PASSWORD = {
  name: 'password',
  label: t`New password`,
  type: 'password',
  autocomplete: 'new-password',
  minlength: 8,
  hint: t`At least 8 characters. Several words are better than a few special characters.`,
  flaw: t`Use at least 8 characters.`,
};

/** It has the focus at once. Without `maxlength` and `pattern`: the server reads a code in every spelling, and a browser would cut a pasted `123 456`. */
export const CODE = {
  name: 'code',
  label: t`Code from your authenticator app`,
  autocomplete: 'one-time-code',
  inputmode: 'numeric',
  class: 'code',
  autofocus: true,
};
/** Whether the session outlives the browser. There is no such field if the server does not distinguish. */
export const REMEMBER = config.secondsWithoutRemember && {
  name: 'remember',
  type: 'checkbox',
  label: t`Stay signed in`,
  hint: config.cookieMode
    ? t`Otherwise the session ends with the browser, and after ${duration(config.secondsWithoutRemember)}.`
    : t`Otherwise the session ends after ${duration(config.secondsWithoutRemember)}.`,
};

/** Adds a password that the page knows to a form that asks for it. Without one, the form stays as it is. */
export function withPassword(entry, password) {
  if (!password) return entry;
  const place = entry.querySelector('.secret');
  const fill = () => {
    const input = place.querySelector('input');
    input.value = password;
    input.focus();
  };
  // Below the place of its error.
  place.parentElement.append(
    h(
      'p',
      { class: 'hint demo' },
      h('span', {}, t`Demo password:`),
      h('code', {}, password),
      h('button', { type: 'button', class: 'quiet small', onclick: fill }, t`Fill in`),
    ),
  );
  return entry;
}

/** The username for password managers, in a form without a field for it. */
export const hiddenUsername = (email) =>
  h('input', {
    class: 'away',
    autocomplete: 'username',
    value: email,
    readonly: true,
    tabindex: -1,
    'aria-hidden': 'true',
  });
