import { account } from '../auth.js';
import { ask } from '../dialog.js';
import { h } from '../dom.js';
import { button, say } from '../feedback.js';
import { form } from '../form.js';
import { part } from '../router.js';
import { changed, user } from '../user.js';
import { FIRST_CODE, firstCode, scanning } from './authenticator.js';
import { recoveryCodes } from './recovery-codes.js';

export async function twoFactor() {
  let next = null;
  const steps = await part('div', { 'aria-label': 'Two-factor authentication', role: 'group' }, async (again) => {
    // Secrets and codes are shown until the user leaves the view or starts the next step.
    const shown = next;
    next = null;
    const to = async (draw) => {
      next = draw;
      changed();
      await again();
    };
    if (shown) return shown(to);
    return (await user()).two_factor ? enabled(to) : disabled(to);
  });
  return [
    h(
      'p',
      { class: 'muted' },
      'With two-factor authentication, your password alone is not enough: to sign in, you also enter a code from an app on your phone.',
    ),
    steps,
  ];
}

function disabled(to) {
  const enrol = async () => {
    const answer = await account.enrolTwoFactor();
    await to((then) => enrolment(answer, then));
  };
  return [
    h(
      'section',
      { class: 'card', 'aria-label': 'State' },
      h('p', {}, 'Two-factor authentication is ', h('strong', {}, 'off'), '.'),
      button('Set it up', enrol, { class: 'primary' }),
    ),
  ];
}

async function enrolment(answer, to) {
  const work = async ({ code }) => {
    await account.confirmTwoFactor(code);
    await to(null);
    say('Two-factor authentication is on.');
  };
  return [
    await scanning(answer, '1. Scan this with your authenticator app'),
    numbered(recoveryCodes(answer.recovery_codes)),
    firstCode(form([FIRST_CODE], { label: 'Switch it on', work }), '3. Enter the code that the app shows'),
  ];
}

function numbered(codes) {
  codes.querySelector('h2').prepend('2. ');
  return codes;
}

async function enabled(to) {
  const { remaining, total } = await account.countRecoveryCodes();
  const renew = async () => {
    const text = 'The codes that you have now will not work any more.';
    if (!(await ask('New recovery codes?', text, 'Make new ones'))) return;
    const { recovery_codes: codes } = await account.newRecoveryCodes();
    // The former codes are void, so the new ones are shown whatever the next request answers.
    await to(async (then) => [recoveryCodes(codes), ...(await enabled(then).catch(() => []))]);
  };
  const disable = async () => {
    if (
      !(await ask(
        'Switch off two-factor authentication?',
        'Your password alone will be enough to sign in.',
        'Switch it off',
      ))
    )
      return;
    await account.disableTwoFactor();
    await to(null);
    say('Two-factor authentication is off.');
  };
  return [
    h(
      'section',
      { class: 'card', 'aria-label': 'State' },
      h(
        'p',
        {},
        'Two-factor authentication is ',
        h('strong', {}, 'on'),
        `. ${remaining} of ${total} recovery codes are left.`,
      ),
      h(
        'p',
        { class: 'row' },
        button('New recovery codes…', renew),
        button('Switch it off…', disable, { class: 'danger' }),
      ),
    ),
  ];
}
