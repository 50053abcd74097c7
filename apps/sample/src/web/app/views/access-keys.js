/** The access keys of the user, for scripts. */
import './access-keys-texts.js';
import { account } from '../auth.js';
import { config } from '../config.js';
import { ask, openDialog } from '../dialog.js';
import { ago, duration, h, newId } from '../dom.js';
import { button, copyButton, nameAction, say } from '../feedback.js';
import { form } from '../form.js';
import { badge, item, items } from '../items.js';
import { t } from '../language.js';
import { part } from '../router.js';

const DAY = 86_400;
/** A key is marked in the last week of its life. */
const SOON = 7 * DAY * 1000;

/** What a key of a customer can have, in the order of the form. */
const ABILITIES = {
  'orders.read': t`See your orders`,
  'orders.write': t`Place and cancel orders`,
  'orders.export': t`Export your orders`,
};

/** The days that the server allows. */
const LIVES = (() => {
  const longest = config.accessKeyDays || Infinity;
  const fitting = [30, 90, 365].filter((days) => days <= longest);
  return fitting.length ? fitting : [longest];
})();

export async function accessKeys() {
  const list = await part('div', { 'aria-label': t`Your access keys`, role: 'group' }, async (again) => {
    const keys = await account.accessKeys.list();
    const create = async () => {
      if (!(await newKey())) return;
      await again();
    };
    const rows = keys.map((key) => row(key, again));
    return [
      rows.length ? items(rows) : h('p', { class: 'empty' }, t`No access keys yet.`),
      h('p', { class: 'row' }, button(t`New access key`, create, { class: 'primary' })),
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'use-heading' },
        h('h2', { id: 'use-heading' }, t`Use a key`),
        h('p', {}, t`Send it as the bearer token of a request. This route accepts it:`),
        h(
          'div',
          { class: 'copied' },
          h('pre', { tabindex: 0 }, CURL),
          copyButton(t`Copy`, CURL, { class: 'quiet', 'aria-label': t`Copy ${'curl'}` }),
        ),
        h('p', { class: 'note' }, t`A key cannot manage your account, confirm a change or make another key.`),
      ),
    ];
  });
  const text = t`A script or a service uses a key instead of signing in. A key can never do more than you can.`;
  return [h('p', { class: 'muted' }, text), list];
}

function row({ id, label, abilities, networks, created_at, expires_at, last_used_at }, again) {
  const revoke = async () => {
    if (!(await ask(t`Revoke “${label}”?`, t`Whatever uses this key is refused at its next request.`, t`Revoke key`)))
      return;
    await account.accessKeys.revoke(id);
    await again();
    say(t`Key revoked.`);
  };
  const left = expires_at && new Date(expires_at) - Date.now();
  const mark =
    expires_at && (left <= 0 ? badge(t`Expired`, 'bad') : left < SOON ? badge(t`Expires soon`, 'warn') : null);
  const codes = (names) =>
    h(
      'span',
      { class: 'names' },
      names.map((name) => h('code', {}, name)),
    );
  return item(
    'h2',
    [h('span', { class: 'label' }, label), mark].filter(Boolean),
    [
      [t`Scopes`, abilities.length ? codes(abilities) : t`none`],
      networks?.length > 0 && [t`Only from`, codes(networks)],
      [t`Created`, ago(created_at)],
      [t`Expires`, expires_at ? ago(expires_at) : t`never`],
      [t`Last used`, last_used_at ? ago(last_used_at) : t`never`],
    ],
    button(t`Revoke`, revoke, { class: 'danger small', 'aria-label': t`Revoke ${label}` }),
  );
}

const CURL = `curl \\\n  ${location.origin}/orders \\\n  -H "Authorization: Bearer $KEY"`;

/** Choices of one kind, as radio buttons or checkboxes with a name. @param options `[value, label, isChosen, hint?]` */
const choices = (legend, name, type, kind, options) =>
  h(
    'fieldset',
    { class: kind },
    h('legend', {}, legend),
    options.map(([value, label, checked, hint]) => {
      const id = newId(name);
      return h(
        'div',
        { class: 'choice' },
        h('input', { id, type, name, value, checked }),
        h('label', { for: id }, label, hint && h('code', {}, hint)),
      );
    }),
  );

const LABEL = {
  name: 'label',
  label: t`Label`,
  maxlength: 100,
  autocomplete: 'off',
  hint: t`What uses the key, such as “Nightly report”.`,
};
const NETWORKS = {
  name: 'networks',
  label: t`Only from these networks`,
  required: false,
  autocomplete: 'off',
  autocapitalize: 'off',
  spellcheck: 'false',
  hint: t`Optional: addresses or networks such as 192.0.2.0/24, separated by commas.`,
};

/** Asks what the key is for, creates it, and shows it. @returns whether there is a key */
async function newKey() {
  const created = await openDialog(t`New access key`, (close) => {
    const work = async ({ label, networks, expires_in_days }) => {
      const from = networks.split(/[\s,;]+/).filter(Boolean);
      const abilities = new FormData(creation).getAll('abilities');
      const wanted = { label, abilities, expires_in_days: Number(expires_in_days) };
      nameAction(t`Create access key “${label}”`);
      close(await account.accessKeys.create({ ...wanted, ...(from.length && { networks: from }) }));
    };
    const creation = form([LABEL, NETWORKS], { label: t`Create key`, work });
    const lives = LIVES.map((days, i) => [days, duration(days * DAY), i === Math.min(1, LIVES.length - 1)]);
    const abilities = Object.entries(ABILITIES).map(([name, text], i) => [name, text, i === 0, name]);
    creation
      .querySelector('[name=networks]')
      .closest('.field')
      .before(
        choices(t`Expires after`, 'expires_in_days', 'radio', 'segments', lives),
        choices(t`What it may do`, 'abilities', 'checkbox', 'options', abilities),
      );
    return [creation];
  });
  if (created) await shown(created);
  return created !== null;
}

/** Shows a key. It is nowhere afterwards. */
const shown = ({ access_key: key, label }) =>
  openDialog(
    t`Your key for “${label}”`,
    () => [
      h('p', {}, t`Copy it now and keep it in a safe place: it is not shown again.`),
      h('code', { class: 'whole' }, key),
      // The first choice: without a copy, the key is lost.
      h('p', { class: 'row' }, copyButton(t`Copy key`, key, { class: 'primary', autofocus: true })),
    ],
    t`Done`,
  );
