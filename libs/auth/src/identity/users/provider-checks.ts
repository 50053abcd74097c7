import type { GuardConfig } from '../../foundation/config/auth-config';
import { MappedUsers } from './mapped-users';
import { TypeormUserProvider } from './typeorm-user-provider';
import { UserProvider } from '../../foundation/ports/user-provider';
import type { Feature } from '../../foundation/realm/feature';

declare module '../../foundation/realm/feature' {
  interface Feature {
    /**
     * Why the feature cannot work with the users of a guard, each text with the correction. Is called whether the feature
     * is on or off at the guard.
     */
    readonly userErrors?: (users: UserProvider, guard: GuardConfig) => readonly (string | false)[];
    /** How the feature writes rows of users at a guard where it is on; false where code of the host does it. */
    readonly writesUsers?: (guard: GuardConfig) => 'INSERT' | 'UPDATE' | 'DELETE' | false;
    /** What the library cannot check, and the host should: each with its correction. */
    readonly userWarnings?: (users: UserProvider, guard: GuardConfig) => readonly (string | false)[];
  }
}

/** Whether a provider knows which emails are verified: its entity has the column, or it implements the method. */
export const knowsEmailState = (users: UserProvider): boolean =>
  users instanceof TypeormUserProvider
    ? users.offers('markEmailVerified')
    : users.isEmailVerified !== UserProvider.prototype.isEmailVerified;

/**
 * Whether a guard refuses logins of unverified users. An extra guard inherits the option. It has no routes that verify an
 * email, so the option has no effect there where the state is not known.
 */
export const blocksUnverified = (users: UserProvider, { isDefault, facts }: GuardConfig): boolean =>
  facts.blocksUnverified && (isDefault || knowsEmailState(users));

/** The warnings of a user provider for a guard. */
export function userProviderWarnings(
  users: UserProvider,
  options: GuardConfig,
  manifests: readonly Feature[],
): string[] {
  const { guard, username } = options;
  const isOwn = (method: 'findByIdentifier' | 'comparedForm'): boolean =>
    [UserProvider, TypeormUserProvider].every(({ prototype }) => users[method] !== prototype[method]);
  const hasForm = username === 'email' || !isOwn('findByIdentifier') || isOwn('comparedForm');
  const texts = [
    ...manifests.flatMap((feature) => feature.userWarnings?.(users, options) ?? []),
    !hasForm &&
      `The UserProvider of the guard "${guard}" has no comparedForm, so each spelling of an unknown ${username} has its own ` +
        'counter of failed logins. If findByIdentifier ignores case, these counters show which accounts exist. Implement ' +
        'comparedForm, to return the form that findByIdentifier compares.',
  ];
  return texts.filter((text): text is string => typeof text === 'string');
}

/** The configuration errors of a user provider for the features of a guard, each with its correction. */
export function userProviderErrors(users: UserProvider, guard: GuardConfig, manifests: readonly Feature[]): string[] {
  const mailing = manifests.find(
    ({ needsMailer, flags }) => needsMailer && flags?.some((name) => guard.features[name]),
  );
  return [
    ...manifests.flatMap((feature) => feature.userErrors?.(users, guard) ?? []),
    mailing && unmailedUsers(users, `features.${mailing.flags![0]}`, guard),
  ].filter((text): text is string => typeof text === 'string');
}

/** The error of an option that mails users without an email. */
export const unmailedUsers = (users: UserProvider, option: string, guard: GuardConfig): string | false =>
  !overrides(users, 'emailOf') &&
  !overrides(users, 'identifierOf') &&
  `${option} mails its users. ${implement('emailOf, or identifierOf where the identifier is the email', guard)}.`;

/** Whether a provider has its own implementation of an optional method. */
export const overrides = (users: UserProvider, method: keyof UserProvider): boolean =>
  users[method] !== UserProvider.prototype[method];

export const implement = (methods: string, { guard }: GuardConfig): string =>
  `Implement ${methods} in the UserProvider of the guard "${guard}"`;

/** The error of a feature that finds one user by a value, with an entity or table in which two users can have this value. */
export function sharedColumn(users: UserProvider, kind: 'identifier' | 'email', option: string): string | false {
  const isEntity = users instanceof TypeormUserProvider;
  const column = isEntity || users instanceof MappedUsers ? users.sharedColumn(kind) : null;
  return (
    column !== null &&
    `${option} needs one account per ${kind}, but the ${isEntity ? 'entity' : 'table'} declares no unique index on ${column}. ` +
      `${isEntity ? 'Put @Index({ unique: true }) on the column' : 'Declare it .unique()'}, and put the index into a migration.`
  );
}
