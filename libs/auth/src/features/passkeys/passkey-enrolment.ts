import { Injectable } from '@nestjs/common';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { Realm, deadline, errors, event, http, identity, input, type pg, session } from '../../kit';
import { PasskeyAsSecondFactor } from './passkey-assertions';
import { Ceremonies, type CreationKind } from './ceremonies';
import { EncryptedKeys, type NewPasskey, NO_USER, PasskeyStore, type RemovedPasskey } from './passkey.store';
import type { PasskeyList } from './passkey.entity';
import { LastPasskey, PasskeyNotFound, PasskeyRefused } from './passkeys.errors';
import { PasskeyAdded, PasskeyRemoved, authenticatorKind } from './passkeys.events';
import { creationOptions } from './webauthn/options';
import { ALGORITHMS, isCredentialId, userHandleOf } from './webauthn/responses';
import { RegistrationVerifier } from './webauthn/verify-registration';

/** A user with passkeys, or one who sets up the first one. */
type PasskeyHolder = Pick<identity.Caller, 'userId' | 'user'>;

/** A session from which a passkey is added. */
type AddingSession = Pick<identity.Caller, 'userId' | 'familyId'>;

/** Adds passkeys to the account of a user. */
@Injectable()
export class PasskeyEnrolment {
  constructor(
    private readonly ceremonies: Ceremonies,
    private readonly verifier: RegistrationVerifier,
    private readonly store: PasskeyStore,
    private readonly keys: EncryptedKeys,
    private readonly accounts: session.Accounts,
    private readonly factors: session.GuardFactors,
    private readonly users: identity.TimedUserProvider,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** Begins a ceremony of this kind. {@link complete} ends it. */
  async begin(
    { userId, user }: PasskeyHolder,
    kind: CreationKind = 'interactive',
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { passkeys: options } = this.realm.options;
    const passkeys = await this.store.list(userId);
    const stored = storedHandle(passkeys);
    const name = nameOf(this.users, { user, userId });
    return creationOptions(
      // The browser asks nothing, so it cannot verify the user. Later uses do, as `userVerification` requires.
      kind === 'conditional' ? { ...options, userVerification: 'preferred' } : options,
      ALGORITHMS,
      { handle: stored ?? userHandleOf(userId), name, passkeys },
      await this.ceremonies.startRegistration(userId, stored, kind),
    );
  }

  /**
   * Stores the passkey of a ceremony of this kind; a conditional one only as the first of its user.
   *
   * @throws PasskeyRefused; Unauthenticated when the caller's session has ended in the meantime
   */
  async complete(
    caller: identity.Caller,
    credential: unknown,
    name: string | null,
    kind: CreationKind = 'interactive',
  ): Promise<void> {
    const passkey = await this.verified(caller.userId, kind, credential, name);
    const most = kind === 'conditional' ? 1 : undefined;
    if (!(await this.add(caller, passkey, most))) throw new PasskeyRefused('not_registered');
  }

  /** Verifies a new passkey. The ceremony cannot be used again. @throws PasskeyRefused */
  async verified(userId: string, kind: CreationKind, credential: unknown, name: string | null): Promise<NewPasskey> {
    const ceremony = await this.ceremonies.takeRegistration(userId, kind);
    const found = ceremony && (await this.verifier.verify(credential, ceremony.challenge, kind));
    if (!found) throw new PasskeyRefused('not_registered');
    const publicKey = this.keys.encrypt({ credentialId: found.credentialId, userId }, found.publicKey);
    const { userHandle } = ceremony;
    return { ...found, userId, userHandle, name: http.clip(name, input.FIELD_MAX), publicKey };
  }

  /**
   * Stores a verified passkey from a session.
   *
   * @param most maximum number of passkeys of the user; by default `passkeys.maxPerUser`
   * @param isAllowed called after the passkey is stored; when it returns false, the passkey is removed again
   * @returns whether it was stored
   * @throws Unauthenticated when the session has ended in the meantime
   */
  async add(
    current: AddingSession,
    passkey: NewPasskey,
    most?: number,
    isAllowed: () => Promise<boolean> = async () => true,
  ): Promise<boolean> {
    const { userId, credentialId } = passkey;
    await this.factors.endTrust(userId);
    const stored = await this.accounts.exclusiveForSession(current, (sql) => this.store.add(sql, passkey, most));
    if (!stored) return false;
    if (!this.store.checksUsers) await this.discardWithoutUser(userId, credentialId);
    if (!(await isAllowed())) {
      await this.store.remove(userId, credentialId);
      return false;
    }
    const kind = authenticatorKind(passkey.transports);
    this.events.emit(new PasskeyAdded(userId, credentialId, this.realm.guard, kind));
    return true;
  }

  /**
   * Deletes a new passkey if its user does not exist any more. A deletion of the user removes the passkeys afterwards, so
   * either it removes this one, or this check finds no user.
   */
  private async discardWithoutUser(userId: string, credentialId: string): Promise<void> {
    if (await this.users.findById(userId)) return;
    await this.store.remove(userId, credentialId);
    throw new errors.Unauthenticated(true).withReason('unknown_user', userId);
  }
}

/** Lists, renames and deletes the passkeys of one user. */
@Injectable()
export class PasskeyManagement {
  constructor(
    private readonly store: PasskeyStore,
    private readonly keys: EncryptedKeys,
    private readonly requiredFactors: session.RequiredFactors,
    private readonly sessions: session.Sessions,
    private readonly accounts: session.Accounts,
    private readonly ways: session.SignInWays,
    private readonly users: identity.TimedUserProvider,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  async list({ userId, user }: PasskeyHolder): Promise<PasskeyList> {
    const stored = await this.store.list(userId);
    return {
      passkeys: stored.map(({ id, name, last_used_at }) => ({ id, name, last_used_at })),
      rp_id: this.realm.options.passkeys.rpId!,
      user_handle: storedHandle(stored) ?? userHandleOf(userId),
      user_name: nameOf(this.users, { user, userId }),
      all_accepted_credential_ids: stored.map(({ id }) => id),
    };
  }

  /** @throws PasskeyNotFound for an id that is not a passkey of the user */
  async rename(userId: string, id: string, name: string | null): Promise<void> {
    const renamed = isCredentialId(id) && (await this.store.rename(userId, id, http.clip(name, input.FIELD_MAX)));
    if (!renamed) throw new PasskeyNotFound();
  }

  /**
   * Deletes a passkey of the user, and ends the sessions that it has started, except the one of the caller. Any other id has no
   * effect.
   *
   * @throws SecondFactorRequired for the last factor of a user who must have one; LastPasskey for the last passkey of a user
   * without another way to sign in (`passkeys.keepLast`)
   */
  async remove(caller: identity.Caller, id: string): Promise<void> {
    const { user, userId } = caller;
    if (!isCredentialId(id)) return;
    const keepsLast = await this.keepsLast(user);
    const hasMore = async (): Promise<boolean> => {
      const ids = (await this.store.list(userId)).map((passkey) => passkey.id);
      return !ids.includes(id) || ids.length > 1;
    };
    await this.requiredFactors.remove(caller, PasskeyAsSecondFactor, hasMore, async () => {
      const removed = await (keepsLast ? this.removeUnlessLast(userId, id) : this.store.remove(userId, id));
      this.emitRemoved(userId, removed);
      // Also if an earlier request has removed it, and could not end them.
      await this.sessions.endOfCredential(caller, id, 'passkey_removed');
    });
  }

  /** The hook `removeCredential`. */
  async removeNamed({ userId, id }: session.NamedCredential): Promise<boolean> {
    if (!isCredentialId(id)) return false;
    const removed = await this.store.remove(userId, id);
    this.emitRemoved(userId, removed);
    await this.sessions.endOfCredential({ userId, familyId: null }, id, 'passkey_removed');
    return removed !== null;
  }

  /** The hook `takeover`: removes all passkeys of the user, or those added since a time. Returns whether there were any. */
  async removeAll({ userId, since }: session.TakenAccount): Promise<boolean> {
    const removed = await this.accounts.exclusive(userId, async (sql) => [
      ...(await this.releaseConcealed(sql, userId, since)),
      ...(await this.store.removeAllOf(sql, userId, since)),
    ]);
    for (const one of removed) this.emitRemoved(userId, one);
    return removed.length > 0;
  }

  private emitRemoved(userId: string, removed: RemovedPasskey | null): void {
    if (!removed) return;
    const kind = authenticatorKind(removed.transports);
    this.events.emit(new PasskeyRemoved(userId, removed.id, this.realm.guard, kind));
  }

  /**
   * Where registrations are concealed, the id of the passkey that has created the account stays taken, as if the address had
   * been taken then. Otherwise the client that registered it would learn of the takeover, and so that it had created the account.
   */
  private async releaseConcealed(sql: pg.Sql, userId: string, since?: Date): Promise<RemovedPasskey[]> {
    if (!this.realm.options.facts.concealsAccounts) return [];
    const released: RemovedPasskey[] = [];
    for (const { id, transports, publicKey: sealed } of await this.store.unusedOf(sql, userId, since)) {
      const publicKey = this.keys.decryptIfOurs({ credentialId: id, userId }, sealed);
      if (!publicKey) continue;
      await this.store.release(sql, id, this.keys.encrypt({ credentialId: id, userId: NO_USER }, publicKey));
      released.push({ id, transports });
    }
    return released;
  }

  /** @throws LastPasskey */
  private removeUnlessLast(userId: string, id: string): Promise<RemovedPasskey | null> {
    const refusal = (): LastPasskey => new LastPasskey();
    return this.ways.remove(userId, passkeyWay(id), refusal, (sql) => this.store.remove(userId, id, sql));
  }

  private async keepsLast(user: object): Promise<boolean> {
    const { keepLast } = this.realm.options.passkeys;
    if (typeof keepLast !== 'function') return keepLast;
    // Only an explicit false releases the last passkey: a user who cannot sign in any more cannot correct an error.
    return (await deadline.callHost<unknown>('passkeys.keepLast', () => keepLast(user))) !== false;
  }
}

/** The name of a passkey among the ways to sign in. */
export const passkeyWay = (id: string): string => `passkey:${id}`;

/** The name by which authenticators list the passkeys of a user. */
const nameOf = (users: identity.TimedUserProvider, { user, userId }: PasskeyHolder): string =>
  users.identifierOf(user) || userId;

/** The random user handle of a user that was registered with a passkey, while one with it exists; else null. */
const storedHandle = (passkeys: readonly { readonly userHandle: string | null }[]): string | null =>
  passkeys.find(({ userHandle }) => userHandle !== null)?.userHandle ?? null;

/**
 * Adds the first passkey of a user, which the browser creates without a question (WebAuthn Level 3 §5.1.3, conditional
 * mediation). A recent login with the password takes the place of the confirmation. Every later use of the passkey verifies
 * the user as `passkeys.userVerification` requires.
 */
@Injectable()
export class ConditionalCreate {
  constructor(
    private readonly enrolment: PasskeyEnrolment,
    private readonly confirmations: session.Confirmations,
    private readonly store: PasskeyStore,
  ) {}

  /** @throws ConfirmationRequired without a recent login with the password; PasskeyRefused for a user with a passkey */
  async options(caller: identity.Caller): Promise<PublicKeyCredentialCreationOptionsJSON> {
    await this.confirmations.requirePasswordLogin(caller);
    if (await this.store.existsFor(caller.userId)) throw new PasskeyRefused('not_registered');
    return this.enrolment.begin(caller, 'conditional');
  }

  /** @throws ConfirmationRequired, PasskeyRefused; Unauthenticated when the caller's session has ended in the meantime */
  async register(caller: identity.Caller, credential: unknown, name: string | null): Promise<void> {
    await this.confirmations.requirePasswordLogin(caller);
    await this.enrolment.complete(caller, credential, name, 'conditional');
  }
}
