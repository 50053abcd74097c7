import { auth, hasPasskeys, methodsOf, place } from '../auth.js';
import { badge } from '../items.js';
import { config } from '../config.js';
import { ago, h } from '../dom.js';
import { nodes, t } from '../language.js';
import { learnEnd } from '../life.js';
import { hasPasskey, latestUser } from '../user.js';
import { mustConfirm, resendButton } from './email.js';
import { sessionCard } from './token.js';

export async function overview(left) {
  // Another tab or a link in a mail can have changed the user.
  const [me, canUsePasskey] = await Promise.all([latestUser(), hasPasskey()]);
  // The view does not wait for it, and is complete without it.
  learnEnd().catch(() => undefined);
  return [mustConfirm(me) && unverified(), sessionCard(left), next(me, canUsePasskey), who(me)];
}

/** What else to try: only what this user has not done. */
function next({ two_factor }, canUsePasskey) {
  const { features } = config;
  const item = (to, label, then, props) => h('li', {}, h('a', { href: to, ...props }, label), ` ${then}`);
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'next-heading' },
    h('h2', { id: 'next-heading' }, t`Try next`),
    h(
      'ul',
      { class: 'trials' },
      place !== 'memory' &&
        item('/', t`Open a second tab.`, t`It shares this session: renew in one, and look at the other.`, {
          target: '_blank',
        }),
      item('#/orders', t`Order tea, and see what is refused.`, t`With a token that may only read, or with none.`),
      item(
        '#/sessions',
        t`End this session from another browser.`,
        t`Sign in there, and sign this one out under Sessions.`,
      ),
      features.twoFactor &&
        !two_factor &&
        item('#/two-factor', t`Add a second factor.`, t`The password alone is then not enough.`),
      hasPasskeys && !canUsePasskey && item('#/passkeys', t`Add a passkey.`, t`It signs you in without a password.`),
    ),
  );
}

function who(me) {
  const { email, email_verified, two_factor } = me;
  const { claims } = auth.session;
  const fact = (what, ...value) => h('div', {}, h('dt', {}, what), h('dd', {}, ...value));
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'who-heading' },
    h('h2', { id: 'who-heading' }, t`Your account`),
    h(
      'dl',
      {},
      fact(t`Email`, email, ' ', email_verified ? badge(t`Confirmed`, 'good') : badge(t`Not confirmed`, 'bad')),
      fact(t`Signed in`, nodes`${ago(claims.auth_time * 1000)}, by ${methodsOf(claims)}`),
      config.features.twoFactor && fact(t`Two-factor`, two_factor ? badge(t`On`, 'good') : badge(t`Off`)),
    ),
  );
}

/** What the user still has to do. */
const unverified = () =>
  h(
    'div',
    { class: 'notice' },
    h('span', {}, t`Confirm your email with the link we sent.`),
    config.mailbox && h('a', { class: 'button second small', href: '/mailbox' }, t`Open the mailbox`),
    resendButton(),
  );
