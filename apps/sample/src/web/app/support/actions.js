import { h } from '../dom.js';
import { button, isSilent, say, textOf } from '../feedback.js';
import { form } from '../form.js';
import { openConcern } from './question.js';
import { can, nameOf, operators } from './session.js';

/** What each ability allows, after “You may not”. */
const ABILITIES = {
  read: 'see accounts',
  sessions: 'end sessions',
  locks: 'release locks',
  credentials: 'remove factors and keys',
  passwords: 'require a new password',
  suspensions: 'suspend or restore accounts',
  act: 'act as a user',
};

const lacks = (ability) => `Your role may not ${ABILITIES[ability]}. Ask an administrator.`;

/** Why the server refused a request about an account, in a sentence that says what to do. */
export function refusalOf(error, { ability = 'read', repeat = '' } = {}) {
  const { status, message, reason, retryAfter } = error;
  if (reason === 'cancelled')
    return 'Nothing was changed: you did not confirm that it is you. What you typed is still here.';
  if (status === 403 && message.includes('svc.operators.')) return lacks(ability);
  if (reason === 'own_account')
    return 'This is your own account. No operator changes the own account: use the console.';
  if (reason === 'operator_protected')
    return 'This account belongs to an operator. No operator changes another one: use the console.';
  if (reason === 'no_such_user') return 'This account does not exist any more.';
  if (status === 404) return 'It does not exist any more: it has ended or was removed in the meantime.';
  if (status === 429)
    return `Too many requests. Try again ${retryAfter ? `in ${retryAfter} seconds` : 'in a minute'}. What you typed is still here.`;
  if (status === 503 || reason === 'unreachable')
    return `The server could not finish${status ? '' : ', or could not be reached'}. ${repeat || 'Nothing may have changed.'} Try again.`;
  return textOf(error);
}

/** The errors of fields for which the page has a clearer sentence than the server. */
const FIELDS = { until: ['Choose a time from now to ten years ahead.'] };

/** An error whose sentence is shown as it is, and which keeps the errors of the fields. */
export const told = (error, about) => {
  if (isSilent(error) && error.reason !== 'cancelled') return error;
  const named = error.status === 422 ? Object.entries(error.errors) : [];
  const errors = Object.fromEntries(named.map(([name, texts]) => [name, FIELDS[name] ?? texts]));
  return Object.assign(new Error(refusalOf(error, about)), { errors });
};

/** A button of an action. If the role of the operator does not allow it, or something else prevents it, the button says so instead. */
export function actionButton(label, ability, open, { prevented, ...props } = {}) {
  const why = can(ability) ? prevented : lacks(ability);
  if (!why) return button(label, open, props);
  const { class: look = '', ...others } = props;
  const isSmall = look.includes('small') && 'small';
  return button(label, () => say(why, 'warning'), { ...others, class: isSmall, 'aria-disabled': 'true', title: why });
}

export const REASON = {
  name: 'reason',
  label: 'Reason',
  hint: 'For the history. Operators see it, the user does not.',
  maxlength: 255,
  autocomplete: 'off',
  autofocus: true,
};

/**
 * Asks for the reason of an action, and does it. An action that is refused leaves the question open, with what was typed.
 *
 * @param view the account that is shown: `{ user, again() }`
 * @param action `title`, `text`, `label`, `ability`, `path`, and what is said afterwards: `done`. Optional: `danger`, `fields`,
 *   `bodyOf(values)`, `repeat` (what is known after a request without an answer), `onDone(answer, values)`
 * @returns whether it was done
 */
export async function act(view, action) {
  const { user, again } = view;
  const { title, text, label, ability, path, done, danger = true, fields = [], repeat, onDone } = action;
  const { bodyOf = (values) => values } = action;
  let isTried = false;
  const name = nameOf(user);
  const isDone = await openConcern(title, name, (close) => {
    const work = async (values) => {
      isTried = true;
      try {
        const answer = await operators('POST', `/users/${encodeURIComponent(user.id)}/${path}`, bodyOf(values));
        await onDone?.(answer, values);
        close(true);
      } catch (error) {
        throw told(error, { ability, repeat });
      }
    };
    const entry = form([REASON, ...fields], { label, danger, work });
    return [
      h('p', { class: 'about' }, h('strong', {}, name)),
      ...[text].flat().map((part) => (typeof part === 'string' ? h('p', {}, part) : part)),
      entry,
    ];
  });
  // Also after a refusal: what was shown may be out of date.
  if (isTried) await again();
  if (isDone) say(done);
  return isDone === true;
}
