import { account } from '../auth.js';
import { h } from '../dom.js';
import { form } from '../form.js';
import { forgetLink, linkOf } from '../mailed-link.js';
import { present } from '../router.js';
import { changed } from '../user.js';
import { mailboxHint } from './registration.js';

/**
 * The view of a mailed link whose token is sent by a press on a button: programs that check mails open links.
 *
 * @param path the address of the view
 * @param offer `{ text, label, send(token), title, done, danger?, mails? }`; `title` and `done` are shown afterwards, and with
 *   `mails` where the mails are
 */
const linkView = (path, { text, label, send, title, done, danger, mails }) => {
  const token = linkOf(path)?.token;
  if (!token) return [h('p', {}, 'Open the link in your mail again.'), toStart()];
  const work = async () => {
    await send(token);
    forgetLink();
    changed();
    await present(title, () => [h('p', {}, done), mails && mailboxHint(), toStart()]);
  };
  return [h('p', {}, text), form([], { label, danger, work })];
};

const toStart = () => h('p', {}, h('a', { href: '#/' }, 'Continue'));

export const confirmEmail = () =>
  linkView('/confirm-email', {
    text: 'Use this address for your account from now on. Your sessions on other devices end.',
    label: 'Confirm the new address',
    send: (token) => account.confirmEmailChange(token),
    title: 'Your address is changed',
    done: 'Sign in with the new address from now on. The former address gets a mail with a link that undoes the change.',
  });

export const undoEmail = () =>
  linkView('/undo-email', {
    text: 'If you did not change the address of your account, restore it. All sessions end, the password becomes invalid, and we mail you a link to choose a new one.',
    label: 'Restore my address',
    send: (token) => account.undoEmailChange(token),
    title: 'Your address is restored',
    done: 'All sessions have ended. Open the link that we have mailed to you, and choose a new password.',
    danger: true,
    mails: true,
  });

export const unknownSignIn = () =>
  linkView('/unknown-sign-in', {
    text: 'If the sign-in in the mail was not yours, end all sessions. We also mail you a link to choose a new password, because another person may know yours.',
    label: 'It was not me: end all sessions',
    send: (token) => account.reportSignIn(token),
    title: 'All sessions have ended',
    done: 'Open the link that we have mailed to you, and choose a new password.',
    danger: true,
    mails: true,
  });
