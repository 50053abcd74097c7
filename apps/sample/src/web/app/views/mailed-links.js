import { account, auth } from '../auth.js';
import { deviceOf } from '../device-name.js';
import { h, time } from '../dom.js';
import { textOf } from '../feedback.js';
import { form } from '../form.js';
import { nodes, t } from '../language.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { present, titled } from '../router.js';
import { changed, latestUser } from '../user.js';
import { mailboxHint } from './registration.js';

export const NO_LINK = t`This link does not work`;

/** What a view says is one sheet: without a session, the page itself is it. */
export const sheet = (given) => (auth.session ? [h('section', { class: 'card' }, given)] : given);

/** A link that looks like a button. */
const way = ([href, label], kind = '') => h('a', { class: `button ${kind}`, href, onclick: forgetLink }, label);

/**
 * The view of a mailed link whose token is sent by a press on a button: programs that check mails open links.
 *
 * @param path the address of the view
 * @param offer `{ text, about, label, keep, send(token), title, done, again, danger?, mails? }`; `keep` is the button that changes
 *   nothing, `title` and `done` are shown afterwards, and with `mails` where the mails are; `again` is the way to a new link;
 *   `about(parameters)` lists what else the link says, as `[what, value]`
 */
const linkView = async (path, { text, about, label, keep, send, title, done, again, danger, mails }) => {
  const { token, ...details } = linkOf(path) ?? {};
  if (!token)
    return titled(
      NO_LINK,
      sheet(useless(t`This page has only a part of the link, or none. Open it from your email again.`, again)),
    );
  const work = async () => {
    try {
      await send(token);
    } catch (error) {
      if (error.status !== 422) throw error;
      forgetLink();
      const why = Object.values(error.errors).flat()[0] ?? textOf(error);
      return present(NO_LINK, () => sheet(useless(why, again)));
    }
    forgetLink();
    changed();
    await present(title, () =>
      sheet([h('p', {}, done()), mails && mailboxHint(), h('p', {}, way(['#/', t`Continue`], 'primary'))]),
    );
  };
  const entry = form([], { label, danger, work });
  // What changes nothing is on the left.
  entry.lastChild.classList.add('answers');
  entry.lastChild.prepend(way(['#/', keep]));
  return sheet([...(await facts(details.account, about(details))), h('p', {}, text), entry]);
};

/** The account that a link is for and what else the link says, as far as it does: nothing depends on it. */
async function facts(ofLink, others) {
  const me = auth.session && (await latestUser().catch(() => null));
  const rows = [[t`Account`, ofLink], ...others].filter(([, value]) => value);
  const list = h(
    'dl',
    {},
    rows.map(([what, value]) => h('div', {}, h('dt', {}, what), h('dd', {}, h('strong', {}, value)))),
  );
  return [
    rows.length > 0 && (auth.session ? list : h('div', { class: 'card' }, list)),
    me && ofLink && me.email !== ofLink && other(me),
  ];
}

const other = ({ email }) =>
  h('p', { class: 'note' }, nodes`You are signed in as ${h('strong', {}, email)}. The link is for another account.`);

const useless = (text, again) => [
  h('p', {}, text),
  h('p', { class: 'row' }, again && way(again, 'primary'), way(['#/', t`Continue`], again ? '' : 'primary')),
];

const newPassword = ['#/forgot-password', t`Reset your password`];

export const confirmEmail = () =>
  linkView('/confirm-email', {
    about: ({ email }) => [[t`New email`, email]],
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
    about: ({ email }) => [[t`Former email`, email]],
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

export const unknownSignIn = () =>
  linkView('/unknown-sign-in', {
    about: ({ at, ip, agent }) =>
      at
        ? [
            [t`Device`, deviceOf(agent)],
            [t`Signed in`, time(at)],
            [t`IP address`, ip],
          ]
        : [],
    text: t`If you do not recognize the sign-in in the email, sign out everywhere. We also email you a link to choose a new password, because another person may know yours.`,
    label: t`No, sign out everywhere`,
    keep: t`Yes, it was me`,
    send: (token) => account.reportSignIn(token),
    title: t`You are signed out everywhere`,
    done: () => t`Open the link that we have sent to you, and choose a new password.`,
    mails: true,
    again: !auth.session && newPassword,
  });
