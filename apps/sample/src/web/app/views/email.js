import { account } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { button, nameAction, say } from '../feedback.js';
import { EMAIL, form } from '../form.js';
import { badge } from '../items.js';
import { nodes, t } from '../language.js';
import { latestUser } from '../user.js';
import { mailboxHint } from './registration.js';

export const mustConfirm = ({ email_verified }) => !email_verified && config.features.emailVerification;

export const resendButton = () =>
  button(
    t`Resend link`,
    async () => {
      await account.sendVerificationMail();
      say(t`We have sent a new link.`);
    },
    { class: 'quiet' },
  );

export async function email() {
  // A mailed link can have changed it.
  const me = await latestUser();
  const { email: current, email_verified } = me;
  const result = h('div', { class: 'stack', role: 'status' });
  const change = form([{ ...EMAIL, label: t`New email`, autocomplete: 'email' }], {
    label: t`Send link`,
    work: async ({ email: wanted }) => {
      result.replaceChildren();
      nameAction(t`Change email to ${wanted}`);
      await account.changeEmail(wanted);
      change.reset();
      // The same text for every address: it must not show whether another account has it.
      result.replaceChildren(
        h('p', {}, nodes`Open the link that we have sent to ${h('strong', {}, wanted)}. Until then nothing changes.`),
        ...[mailboxHint()].filter(Boolean),
      );
    },
  });
  return [
    h('p', { class: 'muted' }, t`You sign in with this address, and we send account emails to it.`),
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'change-heading' },
      h('h2', { id: 'change-heading' }, t`Change your email`),
      h('p', {}, nodes`Current email: ${h('strong', {}, current)}`),
      mustConfirm(me) && h('p', { class: 'row' }, badge(t`Not confirmed`, 'bad'), resendButton()),
      h(
        'p',
        { class: 'note' },
        t`We email a link to the new address. Nothing changes until you open it.`,
        // The server sends no such link to an address that nobody has confirmed.
        email_verified !== false &&
          h('span', {}, ` ${t`For ${config.undoDays} days the old address can undo the change.`}`),
      ),
      change,
      result,
    ),
  ];
}
