import { call } from '../client/api.js';
import { config } from '../client/config.js';
import { h, time } from '../dom.js';
import { button, say } from '../feedback.js';
import { current } from '../client/session.js';
import { changed, user } from '../user.js';
import { mailboxHint } from './registration.js';
import { tokenCard } from './token.js';

const METHODS = { pwd: 'password', otp: 'one-time code', webauthn: 'passkey' };

export async function overview(left) {
  // Another tab or a link in a mail can have changed the user.
  changed();
  const { name, email, email_verified, two_factor } = await user();
  const { amr = [], auth_time } = current().payload;
  const fact = (what, ...value) => h('div', {}, h('dt', {}, what), h('dd', {}, ...value));
  return [
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'who-heading' },
      h('h2', { id: 'who-heading' }, `Hello, ${name}`),
      h(
        'dl',
        {},
        fact('Email', email, ' ', email_verified ? badge('confirmed', 'good') : badge('not confirmed', 'bad')),
        fact(
          'Signed in',
          time(auth_time * 1000),
          ` by ${amr.map((method) => METHODS[method] ?? method).join(' and ')}`,
        ),
        config.features.twoFactor && fact('Two-factor', two_factor ? badge('on', 'good') : badge('off')),
      ),
      !email_verified && config.features.emailVerification && unverified(),
    ),
    tokenCard(left),
  ];
}

const badge = (text, kind = '') => h('span', { class: `badge ${kind}` }, text);

function unverified() {
  const work = async () => {
    await call('POST', 'auth/email/verification-notification');
    say('A new link was sent.');
  };
  return h(
    'div',
    { class: 'stack' },
    h('p', {}, 'Open the link that we mailed to you.'),
    button('Send the link again', work),
    mailboxHint(),
  );
}
