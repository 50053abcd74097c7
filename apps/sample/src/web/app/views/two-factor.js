import { account } from '../auth.js';
import { ask, withCancel } from '../dialog.js';
import { h } from '../dom.js';
import { button, nameAction, say } from '../feedback.js';
import { form } from '../form.js';
import { badge } from '../items.js';
import { t } from '../language.js';
import { part } from '../router.js';
import { changed, user } from '../user.js';
import { FIRST_CODE, firstCode, scanning } from './authenticator.js';
import { recoveryCodes } from './recovery-codes.js';

export async function twoFactor() {
  let next = null;
  const steps = await part('div', { 'aria-label': t`Two-factor`, role: 'group' }, async (again) => {
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
      t`With two-factor, your password alone is not enough: to sign in, you also enter a code from an app on your phone.`,
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
      { class: 'card', 'aria-label': t`State` },
      state(badge(t`Off`)),
      button(t`Set up two-factor`, enrol, { class: 'primary' }),
    ),
  ];
}

async function enrolment(answer, to) {
  const work = async ({ code }) => {
    await account.confirmTwoFactor(code);
    await to((then) => {
      const codes = recoveryCodes(answer.recovery_codes, t`Save your recovery codes`);
      const goOn = button(t`Continue`, () => then(null), { class: 'primary' });
      codes.append(h('p', { class: 'row' }, goOn));
      return [codes];
    });
    say(t`Two-factor is on.`);
  };
  return [
    await scanning(answer, t`1. Add this account to your authenticator app`),
    firstCode(
      withCancel([form([FIRST_CODE], { label: t`Turn on`, work })], () => to(null))[0],
      t`2. Enter the code that the app shows`,
    ),
  ];
}

const state = (pill) => h('p', { class: 'row' }, h('strong', {}, t`Authenticator app`), pill);

async function enabled(to) {
  const { remaining, total } = await account.countRecoveryCodes();
  const renew = async () => {
    const text = t`The codes that you have now stop working.`;
    if (!(await ask(t`Replace your recovery codes?`, text, t`Replace codes`))) return;
    nameAction(t`Replace your recovery codes`);
    const { recovery_codes: codes } = await account.newRecoveryCodes();
    // The former codes are void, so the new ones are shown whatever the next request answers.
    await to(async (then) => [recoveryCodes(codes), ...(await enabled(then).catch(() => []))]);
  };
  const disable = async () => {
    const text = t`Your password alone is then enough to sign in.`;
    if (!(await ask(t`Turn off two-factor?`, text, t`Turn off`))) return;
    nameAction(t`Turn off two-factor`);
    await account.disableTwoFactor();
    await to(null);
    say(t`Two-factor is off.`);
  };
  return [
    h(
      'section',
      { class: 'card', 'aria-label': t`State` },
      state(badge(t`On`, 'good')),
      h('p', {}, t`${remaining} of ${total} recovery codes are left.`),
      h('p', { class: 'row' }, button(t`Get new codes`, renew), button(t`Turn off`, disable, { class: 'danger' })),
    ),
  ];
}
