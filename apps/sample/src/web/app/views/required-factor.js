import { account, hasPasskeys } from '../auth.js';
import { h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { form } from '../form.js';
import { t } from '../language.js';
import { present, show } from '../router.js';
import { FIRST_CODE, firstCode, scanning } from './authenticator.js';
import { recoveryCodes } from './recovery-codes.js';

/**
 * Waits for a request of the enrolment, then calls `then` with its answer. If the time for the enrolment is over, the user signs
 * in again. Any other error is shown where it belongs.
 */
async function step(sent, then = () => undefined) {
  let answer;
  try {
    answer = await sent;
  } catch (error) {
    if (!error.errors?.enrolment_token) throw error;
    await show();
    return complain(error);
  }
  return then(answer);
}

/** Lets a user without a second factor, who must have one, set one up and sign in with it. */
export function requiredFactor(challenge) {
  const ways = [
    challenge.methods.includes('totp') && {
      title: t`Authenticator app`,
      text: t`An app on your phone shows a code that you enter after your password.`,
      act: button(t`Use an authenticator app`, () => byApp(challenge), { class: 'primary' }),
    },
    challenge.methods.includes('passkey') &&
      hasPasskeys && {
        title: t`Passkey`,
        text: t`Your fingerprint, your face or a PIN, on this device or on a security key.`,
        act: button(t`Create a passkey`, () => step(account.completeEnrolmentWithPasskey(challenge))),
      },
  ].filter(Boolean);
  return [
    h('p', { class: 'muted' }, t`This account needs a second factor, and has none yet.`),
    h(
      'ul',
      { class: 'cards' },
      ways.map(({ title, text, act }) => h('li', { class: 'card' }, h('h2', {}, title), h('p', {}, text), act)),
    ),
    !ways.length &&
      h('p', { class: 'note' }, t`None of the second factors of this server works in this browser at this address.`),
    startOver(),
  ];
}

const startOver = () => h('ul', { class: 'links' }, h('li', {}, button(t`Start over`, show, { class: 'quiet' })));

const byApp = (challenge) =>
  step(account.beginEnrolment(challenge), (enrolment) =>
    present(t`Set up your authenticator app`, async () => {
      const work = ({ code }) =>
        step(account.completeEnrolment(challenge, code), () =>
          present(t`Save your recovery codes`, () => saving(enrolment.recovery_codes)),
        );
      return [
        await scanning(enrolment, t`1. Add this account to your authenticator app`),
        firstCode(form([FIRST_CODE], { label: t`Turn on and sign in`, work }), t`2. Enter the code that the app shows`),
        startOver(),
      ];
    }),
  );

const saving = (codes) => [
  h('p', { class: 'muted' }, t`You are signed in, and the second factor is on.`),
  recoveryCodes(codes),
  h('p', {}, button(t`Continue`, show, { class: 'primary' })),
];
