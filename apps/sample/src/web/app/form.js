import { h, newId } from './dom.js';
import { isSilent, textOf } from './feedback.js';

/**
 * A form. Each error of the API is shown once: at its field, which gets the focus, or above the form.
 *
 * @param fields `{ name, label, hint?, ...attributes of the input }`
 * @param submit `{ label, work(values), danger?, isSecond?, isWhole? }`; an error of `work` is shown. With `isWhole`,
 *   it is shown above the form, because it is not about one field. With `isSecond`, another button is the first choice
 * @param more elements beside the button
 */
export function form(fields, submit, ...more) {
  const summary = h('div', { class: 'summary', role: 'alert', tabindex: -1 });
  const rows = fields.map(field);
  const button = h('button', { class: submit.danger ? 'danger' : submit.isSecond ? 'wide' : 'primary' }, submit.label);
  const element = h(
    'form',
    { method: 'post' },
    summary,
    rows.map(({ row }) => row),
    h('p', { class: 'row' }, button, more),
  );

  let busy = false;
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    button.setAttribute('aria-busy', 'true');
    clear();
    try {
      await submit.work(Object.fromEntries(new FormData(element)));
    } catch (error) {
      if (!isSilent(error)) refuse(error);
    } finally {
      busy = false;
      button.removeAttribute('aria-busy');
    }
  });

  function clear() {
    summary.replaceChildren();
    for (const { show } of rows) show();
  }

  function refuse(error) {
    const errors = Object.entries(error.errors ?? {});
    const shown = submit.isWhole ? [] : errors.flatMap(([name]) => rows.find((row) => row.name === name) ?? []);
    for (const row of shown) row.show(error.errors[row.name][0]);
    const others = errors.filter(([name]) => !shown.some((row) => row.name === name)).map(([, [text]]) => text);
    if (shown.length === 0 || others.length > 0)
      summary.replaceChildren(...(others.length ? others : [textOf(error)]).map((text) => h('p', {}, text)));
    (shown[0]?.input ?? summary).focus();
  }

  return element;
}

function field({ name, label, hint, type = 'text', ...attributes }) {
  const id = newId(name);
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const described = (...ids) => ids.filter(Boolean).join(' ') || null;
  const error = h('p', { id: errorId, class: 'error' });
  const base = { id, name, type, required: true, 'aria-describedby': hint && hintId, ...attributes };
  const input = h('input', base);
  const row = h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    hint && h('p', { id: hintId, class: 'hint' }, hint),
    type === 'password' ? h('div', { class: 'secret' }, input, reveal(input, label)) : input,
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
  return { name, row, input, show };
}

/** A button that shows the password, so that the user types it only once. */
function reveal(input, label) {
  const button = h(
    'button',
    { type: 'button', class: 'quiet', 'aria-pressed': 'false', 'aria-label': `Show ${label.toLowerCase()}` },
    'Show',
  );
  button.addEventListener('click', () => {
    const shown = input.type === 'password';
    input.type = shown ? 'text' : 'password';
    button.setAttribute('aria-pressed', String(shown));
  });
  return button;
}

/** Fields of several forms. */
export const EMAIL = { name: 'email', label: 'Email', type: 'email', autocomplete: 'username', maxlength: 255 };
export const PASSWORD = { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' };
export const NEW_PASSWORD = {
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  minlength: 8,
  hint: 'At least 8 characters. Several words are better than a few special characters.',
};

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
