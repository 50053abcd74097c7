import { account } from '../auth.js';
import { ask } from '../dialog.js';
import { h } from '../dom.js';
import { button, say } from '../feedback.js';
import { form } from '../form.js';
import { part } from '../router.js';
import { changed, user } from '../user.js';
import { recoveryCodes } from './recovery-codes.js';

const CODE = {
  name: 'code',
  label: 'Code from the app',
  autocomplete: 'one-time-code',
  inputmode: 'numeric',
  maxlength: 6,
  class: 'code',
};

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
    // The module that draws QR codes is large, and most visits do not need it.
    const { qrCode } = await import('../qr-code.js');
    await to((then) => enrolment(answer, qrCode, then));
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

function enrolment({ otpauth_uri: uri, recovery_codes: codes }, qrCode, to) {
  const secret = new URL(uri).searchParams.get('secret');
  const work = async ({ code }) => {
    await account.confirmTwoFactor(code);
    await to(null);
    say('Two-factor authentication is on.');
  };
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    say('Copied.');
  };
  return [
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'scan-heading' },
      h('h2', { id: 'scan-heading' }, '1. Scan this with your authenticator app'),
      qrCode(uri, 'QR code for your authenticator app'),
      h('p', {}, 'Or type this key into it:'),
      h(
        'p',
        { class: 'row' },
        h('code', { class: 'key' }, secret.match(/.{1,4}/g).join(' ')),
        button('Copy the key', copy),
      ),
      h(
        'details',
        {},
        h('summary', {}, 'The complete URI, for apps that accept it'),
        h('p', {}, h('code', { class: 'uri' }, uri)),
      ),
    ),
    numbered(recoveryCodes(codes)),
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'code-heading' },
      h('h2', { id: 'code-heading' }, '3. Enter the code that the app shows'),
      form([CODE], { label: 'Switch it on', work }),
    ),
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
    await to(async (then) => [recoveryCodes(codes), ...(await enabled(then))]);
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
