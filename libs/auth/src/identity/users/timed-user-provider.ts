import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { isUnavailable, withTimeout } from '../../foundation/platform/deadline';
import { Realm } from '../../foundation/realm/realm';
import { keptAs } from './identifiers';
import { TypeormUserProvider } from './typeorm-user-provider';
import {
  type EmailReplacement,
  type NewAccount,
  type Replacing,
  type ReplacementResult,
  type StoredCredentials,
  type StoredSecondFactor,
  UserProvider,
} from '../../foundation/ports/user-provider';

/** An address that no account has: `invalid` is no domain (RFC 6761 §6.4). */
const NO_ADDRESS = 'none@invalid';

/** The account to which a mail for an address goes. */
export interface MailedAccount {
  readonly user: object;
  readonly userId: string;
  /** The stored address. Its spelling may differ from the submitted one. */
  readonly email: string;
  /** The identifier for the login: the email, or another value. */
  readonly identifier: string | null;
}

/**
 * Calls the realm's user provider with a time limit on every call to a store: `storeTimeoutMs`, less the time that the
 * request has already waited.
 *
 * Deletion and pruning call the provider directly: their transactions and sweeps have their own time limits.
 *
 * @throws StoreUnavailable if the store does not answer in time or cannot be reached
 */
@Injectable()
export class TimedUserProvider {
  constructor(
    private readonly provider: UserProvider,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  findById(id: string): Promise<object | null> {
    return this.timed(() => this.provider.findById(id));
  }

  findByIdentifier(identifier: string): Promise<StoredCredentials | null> {
    return this.timed(() => this.provider.findByIdentifier(identifier));
  }

  /** The spelling of an identifier that the look-up compares: see {@link UserProvider.comparedForm}. Empty for a blank one. */
  spellingOf(identifier: string): string {
    const given = identifier.trim();
    return given && (this.provider.comparedForm(given) ?? keptAs(this.realm.options.username, given));
  }

  /** The account to which a mail for an address goes; null for none. */
  async mailedAccount(address: string): Promise<MailedAccount | null> {
    return this.mailed(await this.findByEmail(address));
  }

  /** The account of a user, for a mail; null for one that does not exist any more, and for one without an address. */
  async mailedUser(id: string): Promise<MailedAccount | null> {
    return this.mailed(await this.findById(id));
  }

  private mailed(user: object | null): MailedAccount | null {
    const email = user && this.emailOf(user);
    return user && email ? { user, userId: this.idOf(user), email, identifier: this.identifierOf(user) } : null;
  }

  /** The password hash of an account. The same look-up without one: the time must not show whether there is an account. */
  passwordHashOfMailed(account: MailedAccount | null): Promise<string | null> {
    return this.passwordHashOf(account?.userId ?? '').catch((error: unknown) => {
      // A provider of the host may be unable to read an empty id. The answer must not show that there is no account.
      if (account || isUnavailable(error)) throw error;
      return null;
    });
  }

  /**
   * Throws if the user store does not answer. The same look-up for every request: one of a requested address would take longer if
   * it has an account.
   *
   * @throws StoreUnavailable
   */
  async requireAnswer(): Promise<void> {
    await this.findByEmail(NO_ADDRESS);
  }

  findByEmail(email: string): Promise<object | null> {
    return this.timed(() => this.provider.findByEmail(email));
  }

  passwordHashOf(id: string): Promise<string | null> {
    return this.timed(() => this.provider.passwordHashOf(id));
  }

  /** Whether the hash was stored. If the provider returns no result, the stored hash is read and compared. */
  async savePasswordHash(id: string, passwordHash: string, replacing?: string | null): Promise<boolean> {
    const isStored = await this.timed(() => this.provider.savePasswordHash(id, passwordHash, replacing));
    return isStored ?? (await this.passwordHashOf(id)) === passwordHash;
  }

  create(account: NewAccount, manager?: EntityManager): Promise<object | null> {
    return this.timed(() => this.provider.create(account, manager));
  }

  imitateCreation(id: string, manager?: EntityManager): Promise<void> {
    return this.timed(() => this.provider.imitateCreation(id, manager));
  }

  /** Whether {@link create} may call code of the host, so that it must not be repeated after a conflict. */
  get createsByHost(): boolean {
    return !(this.provider instanceof TypeormUserProvider) || this.provider.callsHost;
  }

  currentMark(): Promise<string> {
    return this.timed(() => this.provider.currentMark());
  }

  wasCreatedSince(id: string, mark: string): Promise<boolean> {
    return this.timed(() => this.provider.wasCreatedSince(id, mark));
  }

  markEmailVerified(id: string, email: string, at: Date): Promise<boolean> {
    return this.timed(() => this.provider.markEmailVerified(id, email, at));
  }

  changeEmail(id: string, change: EmailReplacement, manager: EntityManager): Promise<ReplacementResult> {
    return this.timed(() => this.provider.changeEmail(id, change, manager));
  }

  changeIdentifier(id: string, change: Replacing): Promise<ReplacementResult> {
    return this.timed(() => this.provider.changeIdentifier(id, change));
  }

  secondFactorOf(id: string): Promise<StoredSecondFactor | null> {
    return this.timed(() => this.provider.secondFactorOf(id));
  }

  replaceSecondFactor(id: string, current: StoredSecondFactor, next: StoredSecondFactor): Promise<boolean> {
    return this.timed(() => this.provider.replaceSecondFactor(id, current, next));
  }

  idOf(user: object): string {
    return this.provider.idOf(user);
  }

  publicIdOf(user: object): string | number {
    return this.provider.publicIdOf(user);
  }

  identifierOf(user: object): string | null {
    return this.provider.identifierOf(user);
  }

  emailOf(user: object): string | null {
    return this.provider.emailOf(user);
  }

  isEmailVerified(user: object): boolean | null {
    return this.provider.isEmailVerified(user);
  }

  verifiesEmails(): boolean {
    return this.provider.verifiesEmails();
  }

  storesSecondFactors(): boolean {
    return this.provider.storesSecondFactors();
  }

  /** The `async` function turns a synchronous exception of the provider into a rejection. */
  private timed<T>(ask: () => Promise<T>): Promise<T> {
    return withTimeout('The user store', this.config.storeTimeoutMs, (async () => ask())());
  }
}
