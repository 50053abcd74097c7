import type { EntityManager } from 'typeorm';

/** An account about to be created. */
export interface NewAccount {
  /** What its user signs in with: by default the email. */
  identifier: string;
  /** PHC string. */
  passwordHash: string;
  name: string;
}

/** A user together with what its login is checked against. */
export interface StoredCredentials<User extends object = object> {
  user: User;
  /** PHC string of the password's hash; null for a user without a password. */
  passwordHash: string | null;
}

/**
 * Where a guard's users live. The TypeORM implementation serves any entity with an id, an identifier
 * and a password hash; a host with other users implements this.
 *
 * Implementations throw when they cannot answer; null always means that there is no such user.
 *
 * @publicApi
 */
export abstract class UserProvider<User extends object = object> {
  /** The user with this id, exactly as the `sub` claim carries it. */
  abstract findById(id: string): Promise<User | null>;

  /**
   * The user whose identifier (by default the email) this is, with the password hash. An email comes as it was
   * typed: registration creates accounts with emails in lower case, and whoever types capitals means the same.
   */
  abstract findByIdentifier(identifier: string): Promise<StoredCredentials<User> | null>;

  /**
   * The PHC string of this user's password hash; null for an unknown user or one without a password. Read where it
   * is written, past caches and replicas: it decides whether a login survives a change of password.
   */
  abstract passwordHashOf(id: string): Promise<string | null>;

  /** Whether the user's email is verified; null where users have no such notion, as by default. */
  isEmailVerified(_user: User): boolean | null {
    return null;
  }

  /** The user's identifier (by default the email) as it is shown to its owner; null where there is none. */
  identifierOf(_user: User): string | null {
    return null;
  }

  /** The user's email address; by default the identifier. */
  emailOf(user: User): string | null {
    return this.identifierOf(user);
  }

  /** The user whose email this is; by default the one with this identifier. */
  async findByEmail(email: string): Promise<User | null> {
    return (await this.findByIdentifier(email))?.user ?? null;
  }

  /** Whether {@link create} is there; `features.registration` needs it, unless `hooks.register` creates users. */
  createsAccounts(): boolean {
    return false;
  }

  /** Creates an account; null where its identifier is taken. Atomic: of two with one identifier, one is created. */
  create(_account: NewAccount): Promise<User | null> {
    throw new Error('This user provider creates no accounts.');
  }

  /** Whether {@link currentMark} and {@link wasCreatedSince} are there; `hooks.register` needs them. */
  datesAccounts(): boolean {
    return false;
  }

  /** This moment, as {@link wasCreatedSince} understands it: by the clock that users are dated by. */
  currentMark(): Promise<string> {
    throw new Error('This user provider cannot tell new accounts from others.');
  }

  /** Whether this user was created since that moment. One that was only changed since is not new. */
  wasCreatedSince(_id: string, _mark: string): Promise<boolean> {
    throw new Error('This user provider cannot tell new accounts from others.');
  }

  /** Whether {@link markEmailVerified} is there; `features.emailVerification` needs it. */
  verifiesEmails(): boolean {
    return false;
  }

  /**
   * Notes that the user's email is verified, if it is still this one and was not verified before; says whether
   * that was so. Atomic: of two, one says yes.
   */
  markEmailVerified(_id: string, _email: string, _at: Date): Promise<boolean> {
    throw new Error('This user provider verifies no emails.');
  }

  /** Whether {@link delete} is there; `features.accountDeletion` needs it, unless `hooks.deleteUser` removes users. */
  deletesAccounts(): boolean {
    return false;
  }

  /**
   * Deletes a user for good, also where users are otherwise only marked as deleted; says whether there was one.
   *
   * @param manager of the transaction that erases everything else; a provider on another database ignores it
   */
  delete(_id: string, _manager: EntityManager): Promise<boolean> {
    throw new Error('This user provider deletes no accounts.');
  }

  /** Whether second factors can be stored; `features.twoFactor` needs it. */
  storesSecondFactors(): boolean {
    return false;
  }

  /** The second factor of this user; null for an unknown user. Needed where {@link storesSecondFactors}. */
  secondFactorOf(_id: string): Promise<StoredSecondFactor | null> {
    throw new Error('This user provider stores no second factors.');
  }

  /**
   * Stores `next` if `current` is still what is stored, and says whether it was. Atomic: of two that start from
   * one state, one is stored. Needed where {@link storesSecondFactors}.
   */
  replaceSecondFactor(_id: string, _current: StoredSecondFactor, _next: StoredSecondFactor): Promise<boolean> {
    throw new Error('This user provider stores no second factors.');
  }

  /** The user's id as the `sub` claim carries it. */
  abstract idOf(user: User): string;

  /**
   * Stores a new password hash, and says whether it did; an implementation that returns nothing is asked for the
   * hash instead.
   *
   * @param replacing store it only if this hash is still the current one. Atomic: of two that replace one hash, one
   * is stored. Neither a renewal at login nor a change of password must undo a reset that happened meanwhile
   */
  abstract savePasswordHash(id: string, passwordHash: string, replacing?: string): Promise<boolean | void>;

  /**
   * Which of these ids still have a user, deleted softly or not; null where that cannot be told, as by default.
   * What belongs to the others is swept away, so an implementation answers in full or not at all.
   */
  async present(_ids: readonly string[]): Promise<ReadonlySet<string> | null> {
    return null;
  }
}

/** What a user row holds of a second factor. Enabled is one with a secret and a date of confirmation. */
export interface StoredSecondFactor {
  /** The TOTP secret, encrypted; null where there is none. */
  secret: string | null;
  /** JSON array of the hashes of the recovery codes that are left. */
  recoveryCodes: string | null;
  /** When the user proved that the authenticator works; null while enrolment is pending. */
  confirmedAt: Date | null;
}

/** A user without a second factor. */
export const NO_SECOND_FACTOR: Readonly<StoredSecondFactor> = { secret: null, recoveryCodes: null, confirmedAt: null };
