import { h, newId } from './dom.js';
import { Cancelled, textOf } from './client/errors.js';

/**
 * A form. Errors of the API are shown at the fields and in a summary, which screen readers read.
 *
 * @param fields `{ name, label, hint?, ...attributes of the input }`
 * @param submit `{ label, work(values) }`; an error of `work` is shown
 * @param more elements beside the button
 */
export function form(fields, submit, ...more) {
  const summary = h('div', { class: 'summary', role: 'alert', tabindex: -1 });
  const rows = fields.map(field);
  const button = h('button', { class: submit.danger ? 'danger' : 'primary' }, submit.label);
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
      if (!(error instanceof Cancelled)) refuse(error);
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
    const errors = error.errors ?? {};
    for (const { name, show } of rows) show(errors[name]?.[0]);
    const list = Object.entries(errors).map(([name, [text]]) =>
      h(
        'li',
        {},
        linked(
          rows.find((row) => row.name === name),
          text,
        ),
      ),
    );
    summary.replaceChildren(
      h('strong', {}, 'That did not work.'),
      list.length ? h('ul', {}, list) : h('p', {}, textOf(error)),
    );
    summary.focus();
  }

  return element;
}

/** The text of an error, as a link to its field. */
function linked(row, text) {
  if (!row) return text;
  const focus = (event) => {
    event.preventDefault();
    row.input.focus();
  };
  return h('a', { href: `#${row.input.id}`, onclick: focus }, text);
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

/** A new password in the format of the API. The user types it once. */
export const twice = (password) => ({ password, password_confirmation: password });
