import type { EntityManager } from 'typeorm';

/** The data of a new account. */
export interface NewAccount {
  /** The login identifier, by default the email, in its canonical form: see {@link UserProvider.findByIdentifier}. */
  identifier: string;
  /** PHC string of the password hash; null for an account that is registered with a passkey. */
  passwordHash: string | null;
  name: string;
  /**
   * When the identifier, an email, was proved, for an account whose address is verified from the start. A store that ignores it
   * gets a call of `markEmailVerified`.
   */
  emailVerifiedAt?: Date;
}

/** The replacement of an email or of an identifier. */
export interface Replacing {
  /** The value that must be stored now; null for a user without an email. */
  readonly from: string | null;
  readonly to: string;
}

/** The replacement of an email. The new one is stored as verified. */
export interface EmailReplacement extends Replacing {
  /** The time of the verification, for providers that store which emails are verified. */
  readonly verifiedAt: Date;
}

/**
 * The result of a replacement: it was stored; another user has the new value; or the user does not exist, or has another
 * value than the former one.
 */
export type ReplacementResult = 'changed' | 'taken' | 'stale';

/** A user and the password hash for its login. */
export interface StoredCredentials<User extends object = object> {
  user: User;
  /** PHC string of the password hash; null for a user without a password. */
  passwordHash: string | null;
}

/** Finds emails that are stored in another spelling than that of the registration: for tables that other software has filled. */
interface EmailSpellings<User extends object> {
  /**
   * The users whose email is one of these texts, compared to the letter or without regard to case, each with its password hash; none
   * for no match. The texts are spellings of one address, at most eight. One statement, which uses the index of the email:
   * `WHERE email = ANY($1)`. Called instead of {@link UserProvider.findByIdentifier} where the email is the identifier, and instead of
   * {@link UserProvider.findByEmail}. The library takes the user whose {@link UserProvider.emailOf} is the text that was submitted, or
   * else the only one. Several others are no account. Mails go to the stored address.
   */
  findByEmails?(emails: readonly string[]): Promise<StoredCredentials<User>[]>;
}

/** Creates accounts: for `features.registration` without `hooks.register`. */
interface AccountCreation<User extends object> {
  /**
   * Creates an account and returns its user; null if the identifier is taken, and then nothing is changed. Atomic: of
   * concurrent calls with one identifier, one returns a user and the others null. A unique index decides. Called by the
   * registration, after {@link UserProvider.findByIdentifier} has found no user.
   *
   * @param manager entity manager of the transaction that stores the passkey of the account; undefined for a registration
   * with a password. For users in the same database, `manager.query('INSERT … ON CONFLICT DO NOTHING …')` stores the
   * account and its passkey, or neither. It must not throw for a taken identifier, because an error ends the transaction.
   * The library reads the user again after the commit, so only its id must be complete. A provider on another database
   * ignores the manager: after an error, its account may exist without a passkey, and its owner signs in by a reset link
   * @throws the error of any other conflict, such as one of another unique column
   */
  create?(account: NewAccount, manager?: EntityManager): Promise<User | null>;
}

/** Distinguishes new accounts from existing ones: for `features.registration` with `hooks.register`. */
interface AccountDates {
  /**
   * The current time as a mark for {@link wasCreatedSince}, from the clock that dates the creation of users, and no more precise
   * than their dates: cut off at milliseconds for dates that pass a Date. Called before `hooks.register`.
   */
  currentMark?(): Promise<string>;

  /**
   * Whether this user was created after the mark. A user that was only changed after the mark is not new. Called after
   * `hooks.register`: a user that existed before it would be another person's account.
   */
  wasCreatedSince?(id: string, mark: string): Promise<boolean>;
}

/** Stores which emails are verified: for `features.emailVerification`, with {@link UserProvider.isEmailVerified}. */
interface EmailMarks {
  /**
   * Marks the user's email as verified, if the user still has this email and it was not verified before. Returns
   * whether it did. Atomic: of concurrent calls, one returns true. Called by links that verify an email, and by resets.
   */
  markEmailVerified?(id: string, email: string, at: Date): Promise<boolean>;
}

/** Replaces emails: for `features.emailChange`. */
interface EmailPort {
  /**
   * Replaces the user's email, which may be its identifier, if it is still the former one, and marks the new one as
   * verified. Atomic: a unique index decides between users, and of concurrent calls with one former email, one returns
   * `changed`. Only `changed` may change anything. Called when a change of email is confirmed or undone.
   *
   * @param change `to` is in its canonical form: see {@link UserProvider.findByIdentifier}
   * @param manager entity manager of the transaction that also stores the state of the change, as in
   * {@link UserProvider.delete}. After `taken` and `stale`, and after an error, the library rolls it back
   */
  changeEmail?(id: string, change: EmailReplacement, manager: EntityManager): Promise<ReplacementResult>;
}

/** Replaces identifiers that are not the email: for `features.usernameChange`. */
interface IdentifierPort {
  /**
   * Replaces the user's identifier, where it is not the email, if it is still the former one. Atomic as
   * {@link UserProvider.changeEmail}, in a transaction of its own. Called by the route that changes a username.
   */
  changeIdentifier?(id: string, change: Replacing): Promise<ReplacementResult>;
}

/** Deletes accounts: for `features.accountDeletion` without `hooks.deleteUser`. */
interface AccountRemoval {
  /**
   * Deletes a user permanently, also when users have a soft delete. Returns whether the user existed. Called once for each
   * deletion of an account, after its sessions have ended. An error rolls the transaction back.
   *
   * @param manager entity manager of the transaction that deletes all other data of the account. For users in the same
   * database, `manager.query('DELETE …', [id])` deletes all or nothing; it resolves to `[rows, count]`. A provider on another
   * database ignores it
   */
  delete?(id: string, manager: EntityManager): Promise<boolean>;
}

/** Stores second factors: for `features.twoFactor`. */
interface SecondFactorStorage {
  /** The second factor of this user; null for an unknown user. Called by every login and challenge. */
  secondFactorOf?(id: string): Promise<StoredSecondFactor | null>;

  /**
   * Stores `next` if the stored state is still `current`. Returns whether it did. Atomic: of concurrent calls with the same
   * `current`, one returns true: otherwise two requests could spend one recovery code. Compare the texts to the letter, and of
   * `confirmedAt` only whether it is set, because a database can store a higher precision than a Date. Called by the
   * enrolment, by its end, and for each recovery code that is spent. The time step of the last TOTP code is not here: the
   * library stores it.
   */
  replaceSecondFactor?(id: string, current: StoredSecondFactor, next: StoredSecondFactor): Promise<boolean>;
}

/** The parts of a {@link UserProvider} that only some features need. A provider has a part if it has its methods. */
export interface OptionalPorts<User extends object = object>
  extends
    EmailSpellings<User>,
    AccountCreation<User>,
    AccountDates,
    EmailMarks,
    EmailPort,
    IdentifierPort,
    AccountRemoval,
    SecondFactorStorage {}

/** The ports of more than one method. */
const WHOLE: readonly (readonly (keyof OptionalPorts)[])[] = [
  ['currentMark', 'wasCreatedSince'],
  ['secondFactorOf', 'replaceSecondFactor'],
];

/**
 * Reads and writes the users of a guard. The TypeORM implementation supports every entity with an id, an identifier and
 * a password hash. A host that stores its users elsewhere implements this class: see docs/user-provider.md. The tests of the
 * host check it with `userProviderContract` of `@svc/auth/testing`.
 *
 * - Ids are texts, as in the `sub` claim, and are compared to the letter. Ids and identifiers come from clients: a look-up by a
 *   text that cannot be stored resolves to null, and does not throw.
 * - Null always means that the user does not exist. Implementations throw when the store is not available: the request is
 *   answered 503 for a network error of node-postgres or a `StoreUnavailable`, otherwise 500. Calls have the time limit
 *   `storeTimeoutMs`.
 * - Reads go to the primary database, without a cache. Users are new objects for each call, and contain neither the password
 *   hash nor the second factor, because a route may return them.
 * - A write that depends on a former value compares and stores in one statement, or under a lock. It runs once for each call.
 * - Five methods are required. The methods of the optional ports are found by their presence: see {@link offers}. The features
 *   decide which are needed, and an application does not start without them.
 *
 * @publicApi
 */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- all members of the interface are optional
export abstract class UserProvider<User extends object = object> {
  /**
   * The user with this id; null if there is none, also for a text that is no id. The id has the form of the `sub` claim. Read
   * it from the primary database: a refresh ends the session of a user that does not exist.
   *
   * Called for every guarded request, login and refresh, when a session starts, and for links in mails.
   */
  abstract findById(id: string): Promise<User | null>;

  /**
   * The user with this identifier (by default the email), with the password hash; null if there is none, also for an empty
   * text. An email is passed in its canonical form, in which registration stores it: trimmed, the domain as its A-label (UTS 46,
   * non-transitional: `ada@xn--mller-kva.example`), the local part in NFC and lower case. So `ada@müller.example` is the same address.
   * If the typed text in lower case is another one, that is passed, too, in a second call. {@link UserProvider.findByEmails} replaces
   * both calls by one, and finds emails that are stored in another spelling. The look-up must ignore case and white space
   * at the ends, as `trim()` and `toLowerCase()` of a string do, because code of the host can pass what a user typed.
   *
   * Called by the login, the registration, `svc:release` and `svc:verification-link`.
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
   * Null: an email is compared in its canonical form, and any other identifier to the letter. Default: null. A provider that compares
   * another identifier in another way must implement it; at boot a warning names a provider that does not. An email is passed in its
   * canonical form.
   */
  comparedForm(_identifier: string): string | null {
    return null;
  }

  /**
   * The PHC string of the user's password hash; null for an unknown user or a user without a password. Read it from the
   * primary database, not from a cache or a replica: it decides whether a concurrent login is still valid after a
   * change of password.
   *
   * Called before and after a session starts, by a step-up, a change and a reset of the password, and by challenges.
   */
  abstract passwordHashOf(id: string): Promise<string | null>;

  /**
   * Whether the user's email is verified; null when it is not known, which counts as not verified. Default: null.
   * `features.emailVerification` and `emailVerification.blockUnverifiedLogin` require an implementation.
   */
  isEmailVerified(_user: User): boolean | null {
    return null;
  }

  /**
   * The user's identifier (by default the email) in the form that is shown to the user; null without an identifier. Default:
   * null. `features.accountDeletion`, `hooks.register` and features that send mails require an implementation.
   */
  identifierOf(_user: User): string | null {
    return null;
  }

  /** The user's email address, for mails. Default: the identifier. */
  emailOf(user: User): string | null {
    return this.identifierOf(user);
  }

  /**
   * The user with this email, which is passed in its canonical form: see {@link findByIdentifier}; null if there is none. Called for
   * reset links. Default: the user with this identifier.
   */
  async findByEmail(email: string): Promise<User | null> {
    return (await this.findByIdentifier(email))?.user ?? null;
  }

  /**
   * Does the work of {@link create} for an account that exists, and changes nothing. `registration.concealExisting` calls
   * it when an email has an account, so that the time of the answer does not show it, and requires an implementation.
   * Default: does nothing.
   *
   * @param _id the id of the account
   * @param _manager entity manager of a transaction, as for {@link create}
   */
  async imitateCreation(_id: string, _manager?: EntityManager): Promise<void> {}

  /** The user's id in the form of the `sub` claim: {@link findById} finds the user by it. */
  abstract idOf(user: User): string;

  /**
   * The user's id as the API shows it, in the user resource and in the export: a number for users with numeric ids.
   * Default: {@link idOf}. It identifies the same user; tokens and tables always contain {@link idOf}.
   */
  publicIdOf(user: User): string | number {
    return this.idOf(user);
  }

  /**
   * Stores a new password hash. Returns whether it did; false for an unknown user. When an implementation returns nothing, the
   * library reads the hash to find out. Called by a change and a reset of the password, and by a login that renews a hash.
   *
   * @param replacing store the new hash only if this hash is still the current one; null: only if the user has no
   * password; undefined: in every case. Atomic: of concurrent calls with the same `replacing`, one succeeds. A rehash at login
   * or a change of password must not undo a concurrent reset
   */
  abstract savePasswordHash(id: string, passwordHash: string, replacing?: string | null): Promise<boolean | void>;

  /**
   * Whether the provider has this method of an optional port, so that features and the contract may call it. Default: the
   * method is present, and so is the other method of a port of two. Half a port counts as none: `offers` is false for both.
   * A provider whose methods are always present, but depend on the store, overrides it.
   */
  offers(method: keyof OptionalPorts): boolean {
    const port = WHOLE.find((methods) => methods.includes(method)) ?? [method];
    return port.every((name) => typeof this[name] === 'function');
  }

  /**
   * The subset of these ids that have a user, including soft-deleted users; null when the provider cannot find out.
   * Default: null. The library deletes the data of all other ids, so an implementation must return a complete result or
   * null. Called by the pruning, for the owners of passkeys.
   */
  async existingIds(_ids: readonly string[]): Promise<ReadonlySet<string> | null> {
    return null;
  }
}

export interface UserProvider<User extends object = object> extends OptionalPorts<User> {}

/**
 * The second factor in a user row. The feature that stores it declares its members, by merging into this interface.
 */
export interface StoredSecondFactor {}
