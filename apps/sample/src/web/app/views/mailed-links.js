import { account, auth } from '../auth.js';
import { deviceOf } from '../device-name.js';
import { h, time } from '../dom.js';
import { textOf } from '../feedback.js';
import { form } from '../form.js';
import { t } from '../language.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { present } from '../router.js';
import { changed } from '../user.js';
import { mailboxHint } from './registration.js';

/** A link that looks like a button. */
const way = ([href, label], kind = '') => h('a', { class: `button ${kind}`, href, onclick: forgetLink }, label);

/**
 * The view of a mailed link whose token is sent by a press on a button: programs that check mails open links.
 *
 * @param path the address of the view
 * @param offer `{ text, about, label, keep, send(token), title, done, again, danger?, mails? }`; `keep` is the button that changes
 *   nothing, `title` and `done` are shown afterwards, and with `mails` where the mails are; `again` is the way to a new link;
 *   `about(parameters)` shows what else the link says
 */
const linkView = (path, { text, about, label, keep, send, title, done, again, danger, mails }) => {
  const { token, ...details } = linkOf(path) ?? {};
  if (!token) return useless(t`This page has only a part of the link, or none. Open it from your email again.`, again);
  const work = async () => {
    try {
      await send(token);
    } catch (error) {
      if (error.status !== 422) throw error;
      forgetLink();
      return present(t`This link no longer works`, () =>
        useless(Object.values(error.errors).flat()[0] ?? textOf(error), again),
      );
    }
    forgetLink();
    changed();
    await present(title, () => [
      h('p', {}, done()),
      mails && mailboxHint(),
      h('p', {}, way(['#/', t`Continue`], 'primary')),
    ]);
  };
  return [about?.(details), h('p', {}, text), form([], { label, danger, work }, way(['#/', keep]))];
};

const useless = (text, again) => [
  h('p', {}, text),
  h('p', { class: 'row' }, again && way(again, 'primary'), way(['#/', t`Continue`], again ? '' : 'primary')),
];

const newPassword = ['#/forgot-password', t`Reset your password`];

export const confirmEmail = () =>
  linkView('/confirm-email', {
    text: t`Use this address for your account from now on. Your sessions on other devices end.`,
    label: t`Confirm new email`,
    keep: t`Not now`,
    send: (token) => account.confirmEmailChange(token),
    title: t`Your email is changed`,
    done: () => t`Sign in with the new address from now on.`,
    again: auth.session && ['#/email', t`Send a new link`],
  });

export const undoEmail = () =>
  linkView('/undo-email', {
    text: t`If you did not change the email of your account, restore it. All sessions end, the password stops working, and we email you a link to choose a new one.`,
    label: t`Restore my email`,
    keep: t`Keep the change`,
    send: (token) => account.undoEmailChange(token),
    title: t`Your email is restored`,
    done: () => t`All sessions have ended. Open the link that we have sent to you, and choose a new password.`,
    danger: true,
    mails: true,
    again: !auth.session && newPassword,
  });

/** The sign-in that the mail is about. The link has it only for this view: nothing depends on it. */
const signInOf = ({ at, ip, agent }) =>
  at &&
  h(
    'div',
    { class: 'card' },
    h(
      'dl',
      {},
      [[t`Device`, deviceOf(agent)], [t`Signed in`, time(at)], ip && [t`IP address`, ip]]
        .filter(Boolean)
        .map(([what, value]) => h('div', {}, h('dt', {}, what), h('dd', {}, h('strong', {}, value)))),
    ),
  );

export const unknownSignIn = () =>
  linkView('/unknown-sign-in', {
    about: signInOf,
    text: t`If you do not recognize the sign-in in the email, sign out everywhere. We also email you a link to choose a new password, because another person may know yours.`,
    label: t`No, sign out everywhere`,
    keep: t`Yes, it was me`,
    send: (token) => account.reportSignIn(token),
    title: t`You are signed out everywhere`,
    done: () => t`Open the link that we have sent to you, and choose a new password.`,
    mails: true,
    again: !auth.session && newPassword,
  });
