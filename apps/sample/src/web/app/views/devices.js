import { account } from '../auth.js';
import { config } from '../config.js';
import { deviceOf } from '../device-name.js';
import { ask } from '../dialog.js';
import { h, time } from '../dom.js';
import { button, say } from '../feedback.js';
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
      'Known devices',
      'You have signed in on these devices. We mail you when somebody signs in on another one.',
      known,
    )),
  config.trustedDeviceDays > 0 &&
    (await section('Trusted devices', 'On these devices your password is enough, without the second factor.', trusted)),
];

const row = (title, facts, act) =>
  h('li', { class: 'card spread' }, h('div', {}, h('h3', {}, ...title), h('p', { class: 'muted' }, ...facts)), act);

async function known(again) {
  const rows = (await account.devices()).map(({ id, user_agent, first_seen_at, last_seen_at, current }) => {
    const name = deviceOf(user_agent);
    const forget = async () => {
      const text = 'The next sign-in on it is one on a new device. Its sessions continue.';
      if (!(await ask(`Forget ${name}?`, text, 'Forget it'))) return;
      await account.forgetDevice(id);
      await again();
      say('The device is forgotten.');
    };
    return row(
      [name, ' ', current && h('span', { class: 'badge good' }, 'this one')].filter(Boolean),
      ['last sign-in ', time(last_seen_at), ' · first ', time(first_seen_at)],
      button('Forget', forget, { 'aria-label': `Forget ${name}` }),
    );
  });
  return [rows.length ? h('ul', { class: 'cards' }, rows) : h('p', {}, 'No device is known.')];
}

async function trusted(again) {
  const rows = (await account.trustedDevices()).map(({ id, user_agent, created_at, expires_at }) => {
    const name = deviceOf(user_agent);
    const end = async () => {
      await account.endTrust(id);
      await again();
      say('The trust has ended.');
    };
    return row(
      [name],
      ['trusted since ', time(created_at), ' · until ', time(expires_at)],
      button('End trust', end, { 'aria-label': `End trust in ${name}` }),
    );
  });
  const endAll = async () => {
    await account.endAllTrust();
    await again();
    say('The trust in all devices has ended.');
  };
  return [
    rows.length ? h('ul', { class: 'cards' }, rows) : h('p', {}, 'No device is trusted.'),
    rows.length > 1 && h('p', {}, button('End trust in all', endAll)),
  ];
}
