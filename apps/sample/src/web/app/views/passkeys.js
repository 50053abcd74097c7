import { account } from '../auth.js';
import { item, items } from '../items.js';
import { ask } from '../dialog.js';
import { ago, h } from '../dom.js';
import { button, nameAction, say } from '../feedback.js';
import { form } from '../form.js';
import { t } from '../language.js';
import { part } from '../router.js';

const NAME = { name: 'name', label: t`Name`, maxlength: 255, required: false, autocomplete: 'off' };

export async function passkeys() {
  const list = await part('div', { 'aria-label': t`Your passkeys`, role: 'group' }, async (again) => {
    const { passkeys: listed } = await account.passkeys();
    const done = async (text) => {
      await again();
      say(text);
    };
    const rows = listed.map((passkey) => row(passkey, done));
    return [
      rows.length ? items(rows) : h('p', { class: 'empty' }, t`No passkeys yet.`),
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'add-heading' },
        h('h2', { id: 'add-heading' }, t`New passkey`),
        adding(done),
      ),
    ];
  });
  return [h('p', { class: 'muted' }, t`Sign in with your fingerprint, your face or a PIN, without a password.`), list];
}

function adding(done) {
  const work = async ({ name }) => {
    if (name) nameAction(t`Add passkey “${name}”`);
    await account.addPasskey(name);
    await done(t`Passkey added.`);
  };
  return form([{ ...NAME, hint: t`Optional: a name by which you recognize it, such as “Laptop”.` }], {
    label: t`Add passkey`,
    work,
  });
}

function row({ id, name, last_used_at }, done) {
  const title = name ?? t`Unnamed passkey`;
  const rename = async () => {
    const options = { danger: false, fields: [{ ...NAME, value: name ?? '' }] };
    const given = await ask(t`Rename passkey`, t`Enter a new name.`, t`Rename`, options);
    if (!given) return;
    nameAction(t`Rename passkey`);
    await account.renamePasskey(id, given.name);
    await done(t`Passkey renamed.`);
  };
  const remove = async () => {
    if (!(await ask(t`Delete “${title}”?`, t`You cannot sign in with it any more.`, t`Delete passkey`))) return;
    await account.deletePasskey(id);
    await done(t`Passkey deleted.`);
  };
  return item(
    'h2',
    title,
    [[t`Last used`, last_used_at ? ago(last_used_at * 1000) : t`never`]],
    button(t`Rename`, rename, { class: 'small', 'aria-label': t`Rename ${title}` }),
    button(t`Delete`, remove, { class: 'small danger', 'aria-label': t`Delete ${title}` }),
  );
}
