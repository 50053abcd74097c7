import { account, auth } from '../auth.js';
import { ask } from '../dialog.js';
import { download, h } from '../dom.js';
import { button, say } from '../feedback.js';
import { t } from '../language.js';

async function exportAll() {
  const all = await account.exportAccount();
  download('account.json', 'application/json', JSON.stringify(all, null, 2));
  say(t`Your data was saved as account.json.`);
}

async function erase() {
  const text = t`Your account, your sessions and your orders are deleted immediately and permanently.`;
  const word = t`delete`;
  const fields = [
    {
      name: 'word',
      label: t`Type “${word}” to confirm`,
      flaw: t`Type “${word}”.`,
      pattern: word,
      autocomplete: 'off',
      autocapitalize: 'off',
      autofocus: true,
    },
  ];
  if (await ask(t`Delete your account?`, text, t`Delete account`, { fields })) await auth.deleteAccount();
}

export const yourData = () => [
  h(
    'section',
    { class: 'card', 'aria-labelledby': 'export-heading' },
    h('h2', { id: 'export-heading' }, t`Download your data`),
    h(
      'p',
      {},
      t`A file with the stored data of your account, your sessions and your passkeys. It contains no secrets.`,
    ),
    button(t`Download data`, exportAll),
  ),
  h(
    'section',
    { class: 'card', 'aria-labelledby': 'delete-heading' },
    h('h2', { id: 'delete-heading' }, t`Delete your account`),
    h('p', {}, t`All data of your account is deleted. This cannot be undone.`),
    button(t`Delete account`, erase, { class: 'danger' }),
  ),
];
