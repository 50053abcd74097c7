import { account, auth, hasPasskeys, methodsOf, place } from '../auth.js';
import { config } from '../config.js';
import { h, time } from '../dom.js';
import { button, say } from '../feedback.js';
import { changed, hasPasskey, user } from '../user.js';
import { mailboxHint } from './registration.js';
import { sessionCard } from './token.js';

export async function overview(left) {
  // Another tab or a link in a mail can have changed the user.
  changed();
  const [me, canUsePasskey] = await Promise.all([user(), hasPasskey()]);
  return [sessionCard(left), next(me, canUsePasskey), who(me)];
}

/** What else to try: only what this user has not done. */
function next({ two_factor }, canUsePasskey) {
  const { features } = config;
  const item = (to, label, then, props) => h('li', {}, h('a', { href: to, ...props }, label), ` ${then}`);
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'next-heading' },
    h('h2', { id: 'next-heading' }, 'Then try this'),
    h(
      'ul',
      { class: 'trials' },
      place !== 'memory' &&
        item('/', 'Open a second tab.', 'It shares this session: renew in one, and look at the other.', {
          target: '_blank',
        }),
      item('#/orders', 'Order tea, and see what is refused.', 'With a token that may only read, or with none.'),
      item('#/sessions', 'End this session from another browser.', 'Sign in there, too, and look at its sessions.'),
      features.twoFactor &&
        !two_factor &&
        item('#/two-factor', 'Add a second factor.', 'The password alone is then not enough.'),
      hasPasskeys && !canUsePasskey && item('#/passkeys', 'Add a passkey.', 'It signs you in without a password.'),
    ),
  );
}

function who({ name, email, email_verified, two_factor }) {
  const { claims } = auth.session;
  const fact = (what, ...value) => h('div', {}, h('dt', {}, what), h('dd', {}, ...value));
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'who-heading' },
    h('h2', { id: 'who-heading' }, `Hello, ${name}`),
    h(
      'dl',
      {},
      fact('Email', email, ' ', email_verified ? badge('confirmed', 'good') : badge('not confirmed', 'bad')),
      fact('Signed in', time(claims.auth_time * 1000), ` by ${methodsOf(claims)}`),
      config.features.twoFactor && fact('Two-factor', two_factor ? badge('on', 'good') : badge('off')),
    ),
    !email_verified && config.features.emailVerification && unverified(),
  );
}

const badge = (text, kind = '') => h('span', { class: `badge ${kind}` }, text);

function unverified() {
  const work = async () => {
    await account.sendVerificationMail();
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
