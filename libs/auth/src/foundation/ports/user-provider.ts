import type { EntityManager } from 'typeorm';

/** The data of a new account. */
export interface NewAccount {
  /** The login identifier, by default the email. */
  identifier: string;
  /** PHC string of the password hash. */
  passwordHash: string;
  name: string;
}

/** A user and the password hash for its login. */
export interface StoredCredentials<User extends object = object> {
  user: User;
  /** PHC string of the password hash; null for a user without a password. */
  passwordHash: string | null;
}

/**
 * Reads and writes the users of a guard. The TypeORM implementation supports every entity with an id, an identifier and
 * a password hash. A host that stores its users elsewhere implements this class.
 *
 * Implementations throw when the store is not available. Null always means that the user does not exist.
 *
 * @publicApi
 */
export abstract class UserProvider<User extends object = object> {
  /**
   * The user with this id. The id has the form of the `sub` claim. Read it from the primary database: a refresh ends the
   * session of a user that does not exist.
   */
  abstract findById(id: string): Promise<User | null>;

  /**
   * The user with this identifier (by default the email), with the password hash. An email is passed as the user typed
   * it. Registration stores emails in lower case, so the look-up must ignore case.
   */
  abstract findByIdentifier(identifier: string): Promise<StoredCredentials<User> | null>;

  /**
   * The form in which {@link findByIdentifier} compares an identifier. Identifiers with one form must find the same account,
   * and identifiers with different forms never. Failed logins with an identifier that names no account are counted by this
   * form. If it does not agree with the look-up, the counters show which accounts exist.
   *
   * The provider of an entity does not agree for an email that is stored with capitals, by code other than the registration:
   * only that spelling finds it, but its form is that of all spellings.
   *
   * Null: an email is compared in lower case, and any other identifier to the letter. Default: null. A provider that compares
   * another identifier in another way must implement it; at boot a warning names a provider that does not.
   */
  comparedForm(_identifier: string): string | null {
    return null;
  }

  /**
   * The PHC string of the user's password hash; null for an unknown user or a user without a password. Read it from the
   * primary database, not from a cache or a replica: it decides whether a concurrent login is still valid after a
   * change of password.
   */
  abstract passwordHashOf(id: string): Promise<string | null>;

  /**
   * Whether the user's email is verified; null when it is not known, which counts as not verified. Default: null.
   * `features.emailVerification` and `emailVerification.blockUnverifiedLogin` require an implementation.
   */
  isEmailVerified(_user: User): boolean | null {
    return null;
  }

  /** The user's identifier (by default the email) in the form that is shown to the user; null without an identifier. */
  identifierOf(_user: User): string | null {
    return null;
  }

  /** The user's email address. Default: the identifier. */
  emailOf(user: User): string | null {
    return this.identifierOf(user);
  }

  /** The user with this email. Default: the user with this identifier. */
  async findByEmail(email: string): Promise<User | null> {
    return (await this.findByIdentifier(email))?.user ?? null;
  }

  /** Whether {@link create} is implemented. `features.registration` requires it, unless `hooks.register` is set. */
  createsAccounts(): boolean {
    return false;
  }

  /** Creates an account; null if the identifier is taken. Atomic: of two calls with one identifier, one succeeds. */
  create(_account: NewAccount): Promise<User | null> {
    throw new Error('This user provider creates no accounts.');
  }

  /**
   * Does the work of {@link create} for an account that exists, and changes nothing. `registration.concealExisting` calls
   * it when an email has an account, so that the time of the answer does not show it, and requires an implementation.
   * Default: does nothing.
   *
   * @param _id the id of the account
   */
  async imitateCreation(_id: string): Promise<void> {}

  /** Whether {@link currentMark} and {@link wasCreatedSince} are implemented. `hooks.register` requires them. */
  datesAccounts(): boolean {
    return false;
  }

  /** The current time as a mark for {@link wasCreatedSince}, from the clock that dates the creation of users. */
  currentMark(): Promise<string> {
    throw new Error('This user provider cannot distinguish new accounts from existing ones.');
  }

  /** Whether this user was created after the mark. A user that was only changed after the mark is not new. */
  wasCreatedSince(_id: string, _mark: string): Promise<boolean> {
    throw new Error('This user provider cannot distinguish new accounts from existing ones.');
  }

  /** Whether {@link markEmailVerified} is implemented. `features.emailVerification` requires it. */
  verifiesEmails(): boolean {
    return false;
  }

  /**
   * Marks the user's email as verified, if the user still has this email and it was not verified before. Returns
   * whether it did. Atomic: of two concurrent calls, one returns true.
   */
  markEmailVerified(_id: string, _email: string, _at: Date): Promise<boolean> {
    throw new Error('This user provider verifies no emails.');
  }

  /**
   * Whether {@link delete} is implemented. `features.accountDeletion` requires it, unless `hooks.deleteUser` is set.
   */
  deletesAccounts(): boolean {
    return false;
  }

  /**
   * Deletes a user permanently, also when users have a soft delete. Returns whether the user existed.
   *
   * @param manager entity manager of the transaction that deletes all other data of the account. A provider on another
   * database ignores it
   */
  delete(_id: string, _manager: EntityManager): Promise<boolean> {
    throw new Error('This user provider deletes no accounts.');
  }

  /** Whether the provider stores second factors. `features.twoFactor` requires it. */
  storesSecondFactors(): boolean {
    return false;
  }

  /** The second factor of this user; null for an unknown user. Required with {@link storesSecondFactors}. */
  secondFactorOf(_id: string): Promise<StoredSecondFactor | null> {
    throw new Error('This user provider stores no second factors.');
  }

  /**
   * Stores `next` if the stored state is still `current`. Returns whether it did. Atomic: of two calls with the same
   * `current`, one succeeds. Required with {@link storesSecondFactors}.
   */
  replaceSecondFactor(_id: string, _current: StoredSecondFactor, _next: StoredSecondFactor): Promise<boolean> {
    throw new Error('This user provider stores no second factors.');
  }

  /** The user's id in the form of the `sub` claim. */
  abstract idOf(user: User): string;

  /**
   * The user's id as the API shows it, in the user resource and in the export: a number for users with numeric ids.
   * Default: {@link idOf}. It identifies the same user; tokens and tables always contain {@link idOf}.
   */
  publicIdOf(user: User): string | number {
    return this.idOf(user);
  }

  /**
   * Stores a new password hash. Returns whether it did. When an implementation returns nothing, the library reads the
   * hash to find out.
   *
   * @param replacing store the new hash only if this hash is still the current one; null: only if the user has no
   * password. Atomic: of two calls with the same `replacing`, one succeeds. A rehash at login or a change of password must
   * not undo a concurrent reset
   */
  abstract savePasswordHash(id: string, passwordHash: string, replacing?: string | null): Promise<boolean | void>;

  /**
   * The subset of these ids that have a user, including soft-deleted users; null when the provider cannot find out.
   * Default: null. The library deletes the data of all other ids, so an implementation must return a complete result or
   * null.
   */
  async existingIds(_ids: readonly string[]): Promise<ReadonlySet<string> | null> {
    return null;
  }
}

/**
 * The second factor in a user row. It is enabled when it has a date of confirmation. Then the login requires it, also if the
 * secret is missing or cannot be read: no code is accepted in that case, only a recovery code.
 */
export interface StoredSecondFactor {
  /** The encrypted TOTP secret; null without a second factor. */
  secret: string | null;
  /** JSON array of the hashes of the unused recovery codes. */
  recoveryCodes: string | null;
  /** Time at which the user confirmed the enrolment with a code; null while the enrolment is pending. */
  confirmedAt: Date | null;
}

/** The state of a user without a second factor. */
export const NO_SECOND_FACTOR: Readonly<StoredSecondFactor> = { secret: null, recoveryCodes: null, confirmedAt: null };
