import { account } from '../auth.js';
import { badge, item, items } from '../items.js';
import { config } from '../config.js';
import { deviceIcon, deviceOf, distinct } from '../device-name.js';
import { ask } from '../dialog.js';
import { ago, h } from '../dom.js';
import { button, say } from '../feedback.js';
import { t } from '../language.js';
import { part } from '../router.js';

/** A list of devices that is drawn again after a change. @param draw `(again) => nodes` */
const section = async (title, text, draw) =>
  h(
    'section',
    { class: 'stack', 'aria-label': title },
    h('h2', {}, title),
    h('p', { class: 'muted' }, text),
    await part('div', { 'aria-label': title, role: 'group' }, draw),
  );

export const devices = async () => [
  config.features.knownDevices &&
    (await section(
      t`Known devices`,
      config.mailsNewDevices
        ? t`You have signed in on these devices. We email you when somebody signs in on another one.`
        : t`You have signed in on these devices.`,
      known,
    )),
  config.trustedDeviceDays > 0 &&
    (await section(
      t`Trusted devices`,
      t`On these devices your password is enough, without the second factor.`,
      trusted,
    )),
];

const none = (text) => h('p', { class: 'empty' }, text);

async function known(again) {
  const all = (await account.devices()).toSorted((a, b) => b.current - a.current);
  const names = distinct(all.map(({ user_agent }) => deviceOf(user_agent)));
  const rows = all.map(({ id, user_agent, first_seen_at, last_seen_at, current }, i) => {
    const name = names[i];
    const forget = async () => {
      const text = t`The next sign-in on it is one on a new device. Its sessions continue.`;
      if (!(await ask(t`Forget ${name}?`, text, t`Forget device`))) return;
      await account.forgetDevice(id);
      await again();
      say(t`The device is forgotten.`);
    };
    return item(
      'h3',
      [deviceIcon(user_agent), name, current && badge(t`This device`, 'good')],
      [[t`Last sign-in`, ago(last_seen_at)], first_seen_at !== last_seen_at && [t`First sign-in`, ago(first_seen_at)]],
      button(t`Forget`, forget, { class: 'small', 'aria-label': t`Forget ${name}` }),
    );
  });
  return [rows.length ? items(rows) : none(t`No known devices yet.`)];
}

async function trusted(again) {
  const all = await account.trustedDevices();
  const names = distinct(all.map(({ user_agent }) => deviceOf(user_agent)));
  const rows = all.map(({ id, user_agent, created_at, expires_at }, i) => {
    const end = async () => {
      await account.endTrust(id);
      await again();
      say(t`This device is no longer trusted.`);
    };
    return item(
      'h3',
      [deviceIcon(user_agent), names[i]],
      [
        [t`Trusted`, ago(created_at)],
        [t`Ends`, ago(expires_at)],
      ],
      button(t`Stop trusting`, end, { class: 'small', 'aria-label': t`Stop trusting ${names[i]}` }),
    );
  });
  const endAll = async () => {
    await account.endAllTrust();
    await again();
    say(t`No device is trusted any more.`);
  };
  return [
    rows.length
      ? items(rows)
      : none(t`No trusted devices. You can trust one when you sign in with your second factor.`),
    rows.length > 1 && h('p', {}, button(t`Stop trusting all`, endAll)),
  ];
}
