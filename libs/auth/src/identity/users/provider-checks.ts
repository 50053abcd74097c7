import type { GuardConfig } from '../../foundation/config/auth-config';
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
  }
}

/** Whether a provider knows which emails are verified: its entity has the column, or it implements the method. */
export const knowsVerifiedEmails = (users: UserProvider): boolean =>
  users instanceof TypeormUserProvider
    ? users.verifiesEmails()
    : users.isEmailVerified !== UserProvider.prototype.isEmailVerified;

export const unknownEmails = (option: string, guard: string, off: string): string =>
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

/** The configuration errors of a user provider for the features of a guard, each with its correction. */
export function userProviderErrors(users: UserProvider, guard: GuardConfig, manifests: readonly Feature[]): string[] {
  const mailing = manifests.find(
    ({ needsMailer, flags }) => needsMailer && flags?.some((name) => guard.features[name]),
  );
  const notices = guard.mail.notices === true || guard.mail.notices.length > 0;
  const option = mailing ? `features.${mailing.flags![0]}` : notices && 'mail.notices';
  return [
    ...manifests.flatMap((feature) => feature.userErrors?.(users, guard) ?? []),
    option &&
      !overrides(users, 'emailOf') &&
      !overrides(users, 'identifierOf') &&
      `${option} mails its users. ${implement('emailOf, or identifierOf where the identifier is the email', guard)}.`,
  ].filter((text): text is string => typeof text === 'string');
}

/** Whether a provider has its own implementation of an optional method. */
export const overrides = (users: UserProvider, method: keyof UserProvider): boolean =>
  users[method] !== UserProvider.prototype[method];

export const implement = (methods: string, { guard }: GuardConfig): string =>
  `Implement ${methods} in the UserProvider of the guard "${guard}"`;

/** The error of a feature that finds one user by a value, with an entity in which two users can have this value. */
export function sharedColumn(users: UserProvider, kind: 'identifier' | 'email', option: string): string | false {
  const column = users instanceof TypeormUserProvider ? users.sharedColumn(kind) : null;
  return (
    column !== null &&
    `${option} needs one account per ${kind}, but the entity declares no unique index on ${column}. Put ` +
      '@Index({ unique: true }) on the column, and the index into a migration.'
  );
}
