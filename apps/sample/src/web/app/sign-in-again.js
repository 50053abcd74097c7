import { account, auth, hasPasskeys, ownSession } from './auth.js';
import { config } from './config.js';
import { asked, modal, openDialog, withCancel } from './dialog.js';
import { h } from './dom.js';
import { button } from './feedback.js';
import { PASSWORD, form, hiddenUsername } from './form.js';
import { t } from './language.js';
import { present } from './router.js';
import { withDemoPassword } from './step-up.js';
import { hasPasskey, signsInAgain, user } from './user.js';
import { requiredFactor } from './views/required-factor.js';
import { secondStep } from './views/second-step.js';

/** What the user is asked, by the reason of the refusal (401). */
const QUESTIONS = {
  recent_login_required: t`You signed in some time ago. Sign in again for this.`,
  factor_required: t`Your password alone is not enough for this. Sign in again with your second factor.`,
};
const TRUSTED = t`The trust in your devices ends, because on them your password would be enough.`;

const cancelled = () => Object.assign(new Error('Not signed in again.'), { reason: 'cancelled' });

/**
 * Sends a request of the signed-in user. If the server refuses it because the sign-in was too long ago or too weak, the user
 * signs in again, and the request is sent once more.
 *
 * @param send sends the request, and returns a promise
 */
export async function afterSignIn(send) {
  try {
    return await send();
  } catch (error) {
    if (!QUESTIONS[error.reason]) throw error;
    const { sub } = auth.session.claims;
    if (!(await signInAgain(error.reason)) || auth.session?.claims.sub !== sub) throw cancelled();
    return send();
  }
}

/** The new session outlives the browser if this one does: nobody is asked that in the middle of a task. */
async function isRemembered() {
  const { created_at, expires_at } = await ownSession();
  return new Date(expires_at) - new Date(created_at) > config.secondsWithoutRemember * 1000;
}

async function signInAgain(reason) {
  const me = await user();
  const needsFactor = reason === 'factor_required';
  const ownsPasskey = await hasPasskey();
  const canUsePasskey = ownsPasskey && (!needsFactor || config.passkeysVerifyUsers);
  // A first step alone is not enough without a second one.
  const canUseOthers = !needsFactor || me.two_factor;
  if (!canUseOthers && !canUsePasskey) return setUpFirst();
  const isTrusted = needsFactor && config.trustedDeviceDays > 0 && (await account.trustedDevices()).length > 0;
  const byProvider =
    canUseOthers && config.providers.length ? await (await import('./views/identities.js')).signingIn() : [];
  const about = asked(me.email);
  const step = (number) => h('p', { class: 'badge' }, t`Step ${number} of 2`);
  const choice = config.secondsWithoutRemember ? { remember: await isRemembered() } : {};
  const former = auth.session.claims.fid;
  signsInAgain(true);
  const done = await modal(t`Sign in again`, (dialog, close) => {
    const withLeave = (nodes) => withCancel(nodes, close, { leave: t`Not now` });
    const place = h('div', { role: 'group', 'aria-label': t`Sign in again`, tabindex: -1 });
    const begin = () => place.replaceChildren(...withLeave(firstStep()));
    const byPassword = (fields) => enter(() => auth.login({ email: me.email, ...fields, ...choice }), 'password');
    const enter = async (send, first) => {
      if (isTrusted) await account.endAllTrust();
      const challenge = await send();
      if (!challenge) return close(true);
      if (challenge.enrolment_required) {
        close();
        return present(t`Set up a second factor`, () => requiredFactor(challenge));
      }
      const options = { restart: begin, canTrust: false, onDone: () => close(true) };
      place.replaceChildren(...withLeave([step(2), ...secondStep(challenge, first, options)]));
      (place.querySelector('[autofocus]') ?? place).focus();
    };
    const firstStep = () => {
      const entry = form([{ ...PASSWORD, autofocus: true }], { label: t`Continue`, work: byPassword });
      withDemoPassword(me.email, entry).prepend(hiddenUsername(me.email));
      const byPasskey = () => auth.loginWithPasskey(choice).then(() => close(true));
      return [
        needsFactor && me.two_factor && step(1),
        h('p', {}, QUESTIONS[reason]),
        about,
        isTrusted && h('p', { class: 'note' }, TRUSTED),
        me.has_password && canUseOthers && entry,
        canUsePasskey && button(t`Sign in with a passkey`, byPasskey, { class: !canUseOthers && 'primary' }),
        !canUseOthers && config.features.twoFactor && way(['#/two-factor', t`Set up two-factor`], close),
        ...byProvider.map(([label, work]) => button(label, () => enter(() => work(choice), 'identity'))),
      ].filter(Boolean);
    };
    begin();
    dialog.append(place);
  });
  signsInAgain(false);
  // The new session replaces the former one.
  if (done && auth.session?.claims.fid !== former) await auth.endSession(former).catch(() => undefined);
  return done === true;
}

const way = ([href, label], close, look = '') =>
  h('a', { class: `button ${look}`, href, onclick: () => close() }, label);

/** @returns false: after the set-up, the user sends the request again */
const setUpFirst = () =>
  openDialog(
    t`You need a second factor`,
    (close) => {
      const ways = [
        config.features.twoFactor && ['#/two-factor', t`Use an authenticator app`],
        hasPasskeys && ['#/passkeys', t`Add passkey`],
      ].filter(Boolean);
      return [
        h('p', {}, t`Your account has no second factor here. Set one up, then sign in with it.`),
        ...ways.map((one, i) => way(one, close, i ? '' : 'primary')),
      ];
    },
    t`Not now`,
  ).then(() => false);
