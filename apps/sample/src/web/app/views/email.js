import { account } from '../auth.js';
import { config } from '../config.js';
import { h } from '../dom.js';
import { EMAIL, form } from '../form.js';
import { changed, user } from '../user.js';
import { mailboxHint } from './registration.js';

export async function email() {
  // A mailed link can have changed it.
  changed();
  const { email: current } = await user();
  const result = h('div', { class: 'stack', role: 'status' });
  const change = form([{ ...EMAIL, label: 'New email', autocomplete: 'email' }], {
    label: 'Mail the link',
    work: async ({ email: wanted }) => {
      result.replaceChildren();
      await account.changeEmail(wanted);
      change.reset();
      // The same text for every address: it must not show whether another account has it.
      result.replaceChildren(
        h('p', {}, 'Open the link that we have mailed to ', h('strong', {}, wanted), '. Until then nothing changes.'),
        ...[mailboxHint()].filter(Boolean),
      );
    },
  });
  return [
    h('p', { class: 'muted' }, 'You sign in with this address, and we send mails about your account to it.'),
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'change-heading' },
      h('h2', { id: 'change-heading' }, 'Change the address'),
      h('p', {}, 'Now: ', h('strong', {}, current)),
      h(
        'p',
        { class: 'note' },
        `The change is valid when you open the link at the new address. The former one gets a link that undoes it, for ${config.undoDays} days.`,
      ),
      change,
      result,
    ),
  ];
}
