import './history-texts.js';
import { auth } from '../auth.js';
import { badge } from '../items.js';
import { deviceOf } from '../device-name.js';
import { ago, h } from '../dom.js';
import { capital, inWords } from '../event-name.js';
import { button } from '../feedback.js';
import { t } from '../language.js';

const REUSED = 'auth.refresh_token.reused';

/** What a line of the history says, by the name of the security log. */
const OPERATIONS = {
  'auth.session.started': t`Session started`,
  'auth.session.ended': t`Session ended`,
  'auth.login.failed': t`Sign-in refused`,
  'auth.login_with_code.failed': t`Sign-in refused`,
  'auth.passkey_login.failed': t`Sign-in refused`,
  'auth.refresh.failed': t`Renewal refused`,
  'auth.login.challenged': t`Second factor asked for`,
  'auth.login_challenge.failed': t`Second factor refused`,
  'auth.confirm_password.failed': t`Confirmation refused`,
  'auth.account.locked': t`Locked after failed attempts`,
  'auth.register.succeeded': t`Account created`,
  'auth.device.trusted': t`Device trusted`,
  'auth.email.verified': t`Email confirmed`,
  'auth.email.changed': t`Email changed`,
  'auth.email.change_undone': t`Email restored`,
  'auth.identity.linked': t`Provider linked`,
  'auth.identity.unlinked': t`Provider unlinked`,
  'auth.passkey.added': t`Passkey created`,
  'auth.passkey.removed': t`Passkey deleted`,
  'auth.password_change.succeeded': t`Password changed`,
  'auth.password_forgot.succeeded': t`Link for a new password sent`,
  'auth.password_reset.succeeded': t`Password changed`,
  'auth.recovery_code.used': t`Recovery code used`,
  'auth.recovery_codes.replaced': t`Recovery codes replaced`,
  [REUSED]: t`Stolen token stopped`,
  'auth.sign_in.reported': t`Sign-in reported`,
  'auth.two_factor.enabled': t`Second factor turned on`,
  'auth.two_factor.disabled': t`Second factor turned off`,
  'auth.access_key.created': t`Access key created`,
  'auth.access_key.revoked': t`Access key revoked`,
  'auth.operator.acted': t`Action of the support`,
};

/** Why a session ended. Other reasons are those of a log. */
const REASONS = {
  logout: t`signed out`,
  operator: t`by the support`,
  others: t`signed out from another session`,
  revoked: t`signed out from another session`,
  reuse: t`its old refresh token came back`,
  cap: t`too many sessions`,
  idle: t`not used for too long`,
};

/** Every sign-in, every sign-out and every theft has one beside the line that says it. */
const isNoise = ({ operation, reason }) =>
  operation === 'auth.logout.succeeded' ||
  (operation === 'auth.account.failures_cleared' && reason === 'login') ||
  (operation === 'auth.session.ended' && reason === 'reuse');

/** What two lines have in common that are one row: all that the row says. */
const kindOf = ({ at, operation, reason, ip, user_agent: agent }) =>
  [at.slice(0, 'yyyy-mm-ddThh:mm'.length), operation, REASONS[reason], ip, agent].join();

/** @param times how often it happened in this minute */
const row = ({ at, operation, outcome, reason, ip, user_agent: agent }, times) =>
  h(
    'li',
    { class: operation === REUSED && 'bad' },
    h(
      'div',
      {},
      h('strong', {}, OPERATIONS[operation] ?? inWords(operation)),
      outcome === 'failed' && !OPERATIONS[operation] && badge(t`refused`, 'bad'),
      times > 1 && badge(`× ${times}`),
      h(
        'p',
        { class: 'muted' },
        capital(
          [REASONS[operation === REUSED ? 'reuse' : reason], agent && deviceOf(agent), ip].filter(Boolean).join(' · '),
        ),
      ),
    ),
    ago(at),
  );

/** What happened to the account, newest first, as the server keeps it. */
export async function history() {
  const list = h('ol', { class: 'orders', 'aria-label': t`What happened to your account` });
  let next;
  let last;
  let times = 0;
  const read = async () => {
    const page = await auth.request('GET', `/auth/history${next ? `?before=${next}` : ''}`);
    for (const line of page.data.filter((one) => !isNoise(one))) {
      times = last === kindOf(line) ? times + 1 : 1;
      last = kindOf(line);
      const shown = row(line, times);
      if (times > 1) list.lastChild.replaceWith(shown);
      else list.append(shown);
    }
    next = page.next;
    more.hidden = !next;
  };
  const more = button(t`Show earlier lines`, read);
  await read();
  return [
    h(
      'p',
      { class: 'muted' },
      t`What happened to your account, and from where. Is there something that was not you? Change your password.`,
    ),
    h('section', { class: 'card', 'aria-label': t`What happened to your account` }, list, more),
  ];
}
