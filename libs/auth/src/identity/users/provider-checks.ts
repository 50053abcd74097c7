import type { GuardConfig } from '../../foundation/config/auth-config';
import { TypeormUserProvider } from './typeorm-user-provider';
import { UserProvider } from '../../foundation/ports/user-provider';

/** Whether a provider knows which emails are verified: its entity has the column, or it implements the method. */
export const knowsVerifiedEmails = (users: UserProvider): boolean =>
  users instanceof TypeormUserProvider
    ? users.verifiesEmails()
    : users.isEmailVerified !== UserProvider.prototype.isEmailVerified;

const unknownEmails = (option: string, guard: string, off: string): string =>
  `${option} is on, but it is not known which users of the guard "${guard}" have a verified email. Give the entity a ` +
  `column emailVerifiedAt (timestamptz, nullable), implement isEmailVerified in your UserProvider, or ${off}.`;

/**
 * Whether a guard refuses logins of unverified users. An extra guard inherits the option. It has no routes that verify an
 * email, so the option has no effect there where the state is not known.
 */
export const blocksUnverified = (users: UserProvider, { isDefault, emailVerification }: GuardConfig): boolean =>
  emailVerification.blockUnverifiedLogin && (isDefault || knowsVerifiedEmails(users));

/** What the library cannot check, and the host should: each with its correction. */
export function userProviderWarnings(users: UserProvider, options: GuardConfig): string[] {
  const { guard, username, emailVerification } = options;
  const isOwn = (method: 'findByIdentifier' | 'comparedForm'): boolean =>
    [UserProvider, TypeormUserProvider].every(({ prototype }) => users[method] !== prototype[method]);
  const hasForm = username === 'email' || !isOwn('findByIdentifier') || isOwn('comparedForm');
  const option = 'emailVerification.blockUnverifiedLogin';
  const isUnblocked = emailVerification.blockUnverifiedLogin && !blocksUnverified(users, options);
  const texts = [
    isUnblocked &&
      `${unknownEmails(`guards.${guard}.${option}`, guard, 'set it to false at this guard')} It has no effect there.`,
    !hasForm &&
      `The UserProvider of the guard "${guard}" has no comparedForm, so each spelling of an unknown ${username} has its own ` +
        'counter of failed logins. If findByIdentifier ignores case, these counters show which accounts exist. Implement ' +
        'comparedForm, to return the form that findByIdentifier compares.',
  ];
  return texts.filter((text): text is string => typeof text === 'string');
}

/** The configuration errors of a user provider for the enabled features of a guard, each with its correction. */
export function userProviderErrors(users: UserProvider, options: GuardConfig): string[] {
  const { guard, features, hooks, mail } = options;
  const has = (...methods: ('identifierOf' | 'emailOf')[]): boolean =>
    methods.some((name) => users[name] !== UserProvider.prototype[name]);
  const implement = (methods: string): string => `Implement ${methods} in the UserProvider of the guard "${guard}"`;
  const feature = (['passwordReset', 'emailVerification', 'emailChange', 'emailCode'] as const).find(
    (name) => features[name],
  );
  const mailing = feature
    ? `features.${feature}`
    : (mail.notices === true || mail.notices.length > 0) && 'mail.notices';
  return [
    features.accountDeletion &&
      !hooks.deleteUser &&
      !users.deletesAccounts() &&
      `features.accountDeletion is on, but the users of the guard "${guard}" cannot be deleted. Implement ` +
        'deletesAccounts and delete in your UserProvider, set hooks.deleteUser, or turn the feature off.',
    features.emailVerification &&
      !users.verifiesEmails() &&
      `features.emailVerification is on, but the users of the guard "${guard}" have no verified email. Give ` +
        'the entity a column emailVerifiedAt (timestamptz, nullable), or implement isEmailVerified, verifiesEmails ' +
        'and markEmailVerified in your UserProvider.',
    features.emailVerification &&
      !knowsVerifiedEmails(users) &&
      unknownEmails('features.emailVerification', guard, 'turn the feature off'),
    options.isDefault &&
      options.emailVerification.blockUnverifiedLogin &&
      !knowsVerifiedEmails(users) &&
      unknownEmails('emailVerification.blockUnverifiedLogin', guard, 'turn it off'),
    features.registration && concealed(users, options),
    features.registration && (hooks.register ? registered(users, implement) : created(users, guard)),
    features.passkeyRegistration &&
      !hooks.register &&
      users instanceof TypeormUserProvider &&
      !users.allowsNoPassword &&
      `features.passkeyRegistration creates accounts without a password, but the users of the guard "${guard}" need one. ` +
        'Make the column passwordHash nullable, in the entity and by a migration.',
    features.registration && shared(users, 'identifier', 'features.registration'),
    features.passwordReset && shared(users, 'email', 'features.passwordReset'),
    features.emailChange && shared(users, 'email', 'features.emailChange'),
    features.emailChange &&
      !users.changesEmails() &&
      `features.emailChange is on, but the users of the guard "${guard}" cannot get another email. ` +
        `${implement('changesEmails and changeEmail')}, or turn the feature off.`,
    features.usernameChange && named(users, options, implement),
    features.emailCode && shared(users, 'email', 'features.emailCode'),
    !!(features.registration && hooks.register) &&
      !has('identifierOf') &&
      `hooks.register must return a user with the identifier that was submitted. ${implement('identifierOf')}.`,
    features.accountDeletion &&
      !has('identifierOf') &&
      `features.accountDeletion also erases the counters of the identifier. ${implement('identifierOf')}, or switch the feature off.`,
    mailing &&
      !has('emailOf', 'identifierOf') &&
      `${mailing} mails its users. ${implement('emailOf, or identifierOf where the identifier is the email')}.`,
  ].filter((text): text is string => typeof text === 'string');
}

const created = (users: UserProvider, guard: string): string | false =>
  !users.createsAccounts() &&
  `features.registration is on, but the users of the guard "${guard}" cannot be created. Give the entity a ` +
    'column name, implement createsAccounts and create in your UserProvider, or set hooks.register.';

/** Why a registration at this guard would not conceal which accounts exist. */
function concealed(
  users: UserProvider,
  { guard, emailVerification, registration, nameOf }: GuardConfig,
): string | false {
  const option = nameOf('registration.concealExisting');
  if (!registration.concealExisting) return false;
  if (!emailVerification.blockUnverifiedLogin)
    return `${option} needs emailVerification.blockUnverifiedLogin at the guard "${guard}". Set both options at this guard, or neither.`;
  return (
    users.imitateCreation === UserProvider.prototype.imitateCreation &&
    `${option} needs the same work for an email with and without an account. Implement imitateCreation in the UserProvider ` +
      `of the guard "${guard}": it does the work of create for an account that exists, and changes nothing.`
  );
}

const registered = (users: UserProvider, implement: (methods: string) => string): string | false =>
  !users.datesAccounts() &&
  "hooks.register needs users with a creation date. Give the entity a @CreateDateColumn({ type: 'timestamptz' }). " +
    `Without an entity: ${implement('datesAccounts, currentMark and wasCreatedSince')}.`;

/** Why the identifier of the users cannot be changed without a mail to its owner. */
function named(
  users: UserProvider,
  { guard, username }: GuardConfig,
  implement: (methods: string) => string,
): string | false {
  const isEmail =
    users instanceof TypeormUserProvider ? users.isIdentifiedByEmail : users.emailOf === UserProvider.prototype.emailOf;
  if (username === 'email' || isEmail)
    return (
      `features.usernameChange is on, but the ${username} of the users of the guard "${guard}" is their email, which is ` +
      'changed with a mailed link. Use features.emailChange. If users have both, give the entity a column email, or ' +
      'implement emailOf in your UserProvider.'
    );
  return users.changesIdentifiers()
    ? shared(users, 'identifier', 'features.usernameChange')
    : `features.usernameChange is on, but the users of the guard "${guard}" cannot get another ${username}. ` +
        `${implement('changesIdentifiers and changeIdentifier')}, or turn the feature off.`;
}

function shared(users: UserProvider, kind: 'identifier' | 'email', feature: string): string | false {
  const column = users instanceof TypeormUserProvider ? users.sharedColumn(kind) : null;
  return (
    column !== null &&
    `${feature} needs one account per ${kind}, but the entity declares no unique index on ${column}. Put ` +
      '@Index({ unique: true }) on the column, and the index into a migration.'
  );
}
