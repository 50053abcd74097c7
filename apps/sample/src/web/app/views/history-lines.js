/** The lines of the history of an account in words, for its owner and for the support. */
import { inWords } from '../event-name.js';
import { load, t } from '../language.js';

// Before the texts are read. The files of the first view have no place for them.
await load('history/');

const REUSED = 'refresh_token.reused';

/** What a line says, with its names in the security log. */
const TEXTS = Object.fromEntries(
  [
    [t`Signed in`, 'session.started'],
    [
      t`Sign-in refused`,
      'login.failed',
      'email_code_login.failed',
      'email_code_send.failed',
      'passkey_login.failed',
      'identity_login.failed',
    ],
    [t`Second factor asked for`, 'login.challenged', 'email_code_login.challenged', 'identity_login.challenged'],
    [t`Second factor refused`, 'challenge.failed'],
    [t`Session ended`, 'session.ended'],
    [t`Stolen token stopped`, REUSED],
    [t`Renewal refused`, 'refresh.failed'],
    [t`Renewed without the last answer`, 'session.recovered', 'session.forked'],
    [t`Token without its key refused`, 'bound_token.refused'],
    [t`Sign-in code sent`, 'email_code_send.succeeded'],
    [t`Identity confirmed`, 'confirm_password.succeeded', 'confirm_passkey.succeeded', 'confirm_identity.succeeded'],
    [
      t`Confirmation refused`,
      'confirm_password.failed',
      'confirm_passkey.failed',
      'confirm_identity.failed',
      'confirm_identity_begin.failed',
    ],
    [t`Locked after failed attempts`, 'account.locked'],
    [t`Failed attempts cleared`, 'account.failures_cleared'],
    [t`Account created`, 'register.succeeded', 'register_passkey.succeeded', 'identity_register.succeeded'],
    [t`Account deleted`, 'account.deleted'],
    [t`Data exported`, 'account_export.succeeded'],
    [t`Device trusted`, 'device.trusted'],
    [t`Device forgotten`, 'device_forget.succeeded'],
    [t`Trust in a device ended`, 'trusted_device_forget.succeeded', 'trusted_devices_forget_all.succeeded'],
    [
      t`Link to confirm the email sent`,
      'email_verification_request.succeeded',
      'email_verification_send.succeeded',
      'email_change_request.succeeded',
    ],
    [t`Email confirmed`, 'email.verified'],
    [t`Email changed`, 'email.changed'],
    [t`Email restored`, 'email.change_undone'],
    [t`Mail failed`, 'mail.failed'],
    [t`Username changed`, 'username_change.succeeded'],
    [t`Provider linked`, 'identity.linked'],
    [t`Provider unlinked`, 'identity.unlinked'],
    [t`Signed out at the provider`, 'identity_logout.succeeded', 'identity_end_session.succeeded'],
    [t`Passkey created`, 'passkey.added'],
    [t`Passkey renamed`, 'passkey_rename.succeeded'],
    [t`Passkey deleted`, 'passkey.removed'],
    [t`Passkey backup changed`, 'passkey.backup_changed'],
    [t`Copied passkey stopped`, 'passkey.cloned'],
    [t`Password changed`, 'password_change.succeeded', 'password_reset.succeeded'],
    [t`Link for a new password sent`, 'password_forgot.succeeded'],
    [t`Recovery code used`, 'recovery_code.used'],
    [t`Recovery codes replaced`, 'recovery_codes.replaced'],
    [t`Sign-in reported`, 'sign_in.reported'],
    [t`Two-factor set-up begun`, 'two_factor_enrol.succeeded', 'enrolment_start.succeeded'],
    [t`Two-factor turned on`, 'two_factor.enabled'],
    [t`Two-factor turned off`, 'two_factor.disabled'],
    [t`Two-factor secret unreadable`, 'two_factor.unusable'],
    [t`Session bound to its browser`, 'device_session_register.succeeded'],
    [t`Access key created`, 'access_key.created'],
    [t`Access key revoked`, 'access_key.revoked'],
    [t`Access key used from a new network`, 'access_key.new_network'],
    [t`Action of the support`, 'operator.acted'],
  ].flatMap(([text, ...names]) => names.map((name) => [name, text])),
);

/** Refused requests, by the beginnings of their names. */
const REFUSED = [
  [/^(two_factor_(enrol|conf)|enrolment_[sc])/, t`Two-factor set-up refused`],
  [/^(two_f|recovery|trusted)/, t`Two-factor change refused`],
  [/passkey/, t`Passkey change refused`],
  [/^email_[vp]/, t`Confirmation of the email refused`],
  [/^email_ch/, t`Email change refused`],
  [/^password/, t`Password change refused`],
  [/^username/, t`Username change refused`],
  [/^identity_(un)?link/, t`Provider change refused`],
  [/^access_k/, t`Access key change refused`],
  [/^(logout|session|identity_(l|e))/, t`Sign-out refused`],
  [/^account_d/, t`Account deletion refused`],
  [/^account_e/, t`Data export refused`],
];
const refusalOf = (name) => REFUSED.find(([names]) => names.test(name))?.[1] ?? t`Request refused`;

/** Each has a line of its event beside it. */
const SAID_BY_EVENT =
  /^(access_key(_create|_revoke|s_leaked)|challenge|email_(code_login|prove)|enrolment_(confirm|passkey)|identity_(login|(un)?link)|login|logout|passkey_(delete|login|register(_conditional)?)|recovery_codes_renew|sessions?_end(_all|_others)?)\.succeeded$/;

/** Why a session ended. Other reasons are those of a log. */
const REASONS = {
  logout: t`signed out`,
  operator: t`by the support`,
  others: t`signed out from another session`,
  revoked: t`signed out from another session`,
  reuse: t`an old refresh token came back`,
  cap: t`too many sessions`,
  idle: t`not used for too long`,
  wrong_password: t`wrong password`,
  wrong_code: t`wrong code`,
};

const nameOf = ({ operation }) => operation.replace(/^auth\./, '');

/** Whether another line says it, or the page itself asked and nothing happened. */
const isNoise = (line) =>
  SAID_BY_EVENT.test(nameOf(line)) ||
  nameOf(line) === 'passkey_conditional_options.failed' ||
  (nameOf(line) === 'account.failures_cleared' && line.reason === 'login') ||
  (nameOf(line) === 'session.ended' && line.reason === 'reuse');

/** Whether the line is the one of a stolen refresh token. */
export const isTheft = (line) => nameOf(line) === REUSED;

export const titleOf = (line) =>
  nameOf(line) === 'session.started' && line.actor === 'operator'
    ? t`Support session started`
    : (TEXTS[nameOf(line)] ?? (line.outcome === 'failed' ? refusalOf(nameOf(line)) : inWords(line.operation)));

/** What the title does not say, in words: why a session ended, or what was wrong. */
export const detailOf = (line) => REASONS[isTheft(line) ? 'reuse' : line.reason];

/** The next lines that say something. @param read `(before) => page` of the server @param before its `next` */
export async function linesBefore(read, before) {
  const { data, next } = await read(before);
  const lines = data.filter((line) => !isNoise(line));
  return lines.length || !next ? { lines, next } : linesBefore(read, next);
}
