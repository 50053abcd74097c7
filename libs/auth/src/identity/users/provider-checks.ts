import type { GuardConfig } from '../../foundation/config/auth-config';
import { TypeormUserProvider } from './typeorm-user-provider';
import { UserProvider } from '../../foundation/ports/user-provider';

/** Whether a provider knows which emails are verified: its entity has the column, or it implements the method. */
export const knowsVerifiedEmails = (users: UserProvider): boolean =>
  users instanceof TypeormUserProvider
    ? users.verifiesEmails()
    : users.isEmailVerified !== UserProvider.prototype.isEmailVerified;

/** The configuration errors of a user provider for the enabled features of a guard, each with its correction. */
export function userProviderErrors(users: UserProvider, { guard, features, hooks }: GuardConfig): string[] {
  const has = (...methods: ('identifierOf' | 'emailOf')[]): boolean =>
    methods.some((name) => users[name] !== UserProvider.prototype[name]);
  const implement = (methods: string): string => `Implement ${methods} in the UserProvider of the guard "${guard}"`;
  const mails = (['passwordReset', 'emailVerification'] as const).filter((name) => features[name]);
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
    features.registration && (hooks.register ? registered(users, implement) : created(users, guard)),
    features.registration && shared(users, 'identifier', 'features.registration'),
    features.passwordReset && shared(users, 'email', 'features.passwordReset'),
    !!(features.registration && hooks.register) &&
      !has('identifierOf') &&
      `hooks.register must return a user with the identifier that was submitted. ${implement('identifierOf')}.`,
    features.accountDeletion &&
      !has('identifierOf') &&
      `features.accountDeletion also erases the counters of the identifier. ${implement('identifierOf')}, or switch the feature off.`,
    mails.length > 0 &&
      !has('emailOf', 'identifierOf') &&
      `features.${mails[0]} mails its users. ${implement('emailOf, or identifierOf where the identifier is the email')}.`,
  ].filter((text): text is string => typeof text === 'string');
}

const created = (users: UserProvider, guard: string): string | false =>
  !users.createsAccounts() &&
  `features.registration is on, but the users of the guard "${guard}" cannot be created. Give the entity a ` +
    'column name, implement createsAccounts and create in your UserProvider, or set hooks.register.';

const registered = (users: UserProvider, implement: (methods: string) => string): string | false =>
  !users.datesAccounts() &&
  "hooks.register needs users with a creation date. Give the entity a @CreateDateColumn({ type: 'timestamptz' }). " +
    `Without an entity: ${implement('datesAccounts, currentMark and wasCreatedSince')}.`;

function shared(users: UserProvider, kind: 'identifier' | 'email', feature: string): string | false {
  const column = users instanceof TypeormUserProvider ? users.sharedColumn(kind) : null;
  return (
    column !== null &&
    `${feature} needs one account per ${kind}, but the entity declares no unique index on ${column}. Put ` +
      '@Index({ unique: true }) on the column, and the index into a migration.'
  );
}
