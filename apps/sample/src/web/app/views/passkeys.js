import { account } from '../auth.js';
import { ask } from '../dialog.js';
import { h, time } from '../dom.js';
import { button, say } from '../feedback.js';
import { form } from '../form.js';
import { part } from '../router.js';

const NAME = { name: 'name', label: 'Name', maxlength: 255, required: false, autocomplete: 'off' };

export async function passkeys() {
  const list = await part('div', { 'aria-label': 'Your passkeys', role: 'group' }, async (again) => {
    const { passkeys: listed } = await account.passkeys();
    const done = async (text) => {
      await again();
      say(text);
    };
    const rows = listed.map((passkey) => row(passkey, done));
    return [
      rows.length ? h('ul', { class: 'cards' }, rows) : h('p', {}, 'You have no passkeys yet.'),
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'add-heading' },
        h('h2', { id: 'add-heading' }, 'New passkey'),
        adding(done),
      ),
    ];
  });
  return [h('p', { class: 'muted' }, 'Sign in with your fingerprint, your face or a PIN, without a password.'), list];
}

function adding(done) {
  const work = async ({ name }) => {
    await account.addPasskey(name);
    await done('The passkey is added.');
  };
  return form([{ ...NAME, hint: 'A name by which you recognize it, such as “Laptop”.' }], {
    label: 'Add a passkey',
    work,
  });
}

function row({ id, name, last_used_at }, done) {
  const title = name ?? 'Unnamed passkey';
  const rename = async () => {
    const options = { danger: false, fields: [{ ...NAME, value: name ?? '' }] };
    const given = await ask('Rename the passkey', 'Enter a new name.', 'Rename', options);
    if (!given) return;
    await account.renamePasskey(id, given.name);
    await done('The passkey is renamed.');
  };
  const remove = async () => {
    if (!(await ask(`Delete “${title}”?`, 'You cannot sign in with it any more.', 'Delete'))) return;
    await account.deletePasskey(id);
    await done('The passkey is deleted.');
  };
  return h(
    'li',
    { class: 'card spread' },
    h(
      'div',
      {},
      h('h2', {}, title),
      h('p', { class: 'muted' }, ...(last_used_at ? ['last used ', time(last_used_at * 1000)] : ['never used'])),
    ),
    h(
      'p',
      { class: 'row' },
      button('Rename', rename, { 'aria-label': `Rename ${title}` }),
      button('Delete', remove, { class: 'danger', 'aria-label': `Delete ${title}` }),
    ),
  );
}
