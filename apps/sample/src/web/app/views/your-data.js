import { account, auth } from '../auth.js';
import { ask } from '../dialog.js';
import { download, h } from '../dom.js';
import { button, say } from '../feedback.js';

async function exportAll() {
  const all = await account.exportAccount();
  download('account.json', 'application/json', JSON.stringify(all, null, 2));
  say('Your data was saved as account.json.');
}

async function erase() {
  const text = 'Your account, your sessions and your orders are deleted immediately and permanently.';
  if (await ask('Delete your account?', text, 'Delete it')) await auth.deleteAccount();
}

export const yourData = () => [
  h(
    'section',
    { class: 'card', 'aria-labelledby': 'export-heading' },
    h('h2', { id: 'export-heading' }, 'Export your data'),
    h('p', {}, 'A file with the stored data of your account, your sessions and your passkeys. It contains no secrets.'),
    button('Download your data', exportAll),
  ),
  h(
    'section',
    { class: 'card', 'aria-labelledby': 'delete-heading' },
    h('h2', { id: 'delete-heading' }, 'Delete the account'),
    h('p', {}, 'All data of your account is deleted. This cannot be undone.'),
    button('Delete the account…', erase, { class: 'danger' }),
  ),
];
