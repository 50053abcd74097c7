import { ANY_CODE, withAnyCode } from '../any-code.js';
import { h } from '../dom.js';
import { button, complain } from '../feedback.js';
import { EMAIL, PASSWORD, form } from '../form.js';
import { auth, config, hasPasskeys } from './session.js';

/** The sign-in of operators. @param present shows nodes in its place */
export function signIn(present) {
  const enter = async (credentials) => {
    const challenge = await auth.login(credentials);
    if (challenge?.two_factor) present(secondStep(challenge, present));
    else if (challenge)
      throw new Error(
        'This account has to set up a second factor first. This page cannot do that: ask an administrator.',
      );
  };
  const { demo } = config;
  const as = (label, email, look) => button(label, () => enter({ email, password: demo.password }), { class: look });
  return [
    h('h1', { tabindex: -1 }, 'Sign in to support'),
    h('p', { class: 'muted' }, `For the people who help the users of ${config.appName}.`),
    demo &&
      h(
        'section',
        { class: 'card', 'aria-label': 'Demo' },
        h('p', {}, 'Try it as an administrator, or as a support person who may do less.'),
        h(
          'div',
          { class: 'ways' },
          as('Sign in as administrator', demo.administrator, 'primary'),
          as('Sign in as support', demo.support),
        ),
      ),
    demo && h('p', { class: 'or muted' }, 'or with an account of your own'),
    form([EMAIL, PASSWORD], { label: 'Sign in', work: enter, isWhole: true, isSecond: !!demo }),
    hasPasskeys && button('Sign in with a passkey', () => auth.loginWithPasskey()),
  ];
}

function secondStep(challenge, present) {
  const { methods } = challenge;
  const restart = () => present(signIn(present));
  const answer = async (sent) => {
    try {
      await sent;
    } catch (error) {
      if (!error.errors?.challenge_token) throw error;
      restart();
      complain(error);
    }
  };
  const hasCode = methods.some((method) => method !== 'passkey');
  return [
    h('h1', { tabindex: -1 }, 'One more step'),
    h('p', { class: 'muted' }, 'Your password is correct. Now show in a second way that it’s you.'),
    hasCode &&
      form([{ ...ANY_CODE, autofocus: true }], {
        label: 'Continue',
        work: ({ code }) => answer(withAnyCode(code, (factor) => auth.answerChallenge(challenge, factor))),
      }),
    methods.includes('passkey') &&
      hasPasskeys &&
      button('Use a passkey', () => answer(auth.answerChallengeWithPasskey(challenge))),
    button('Start over', restart, { class: 'quiet' }),
  ];
}
