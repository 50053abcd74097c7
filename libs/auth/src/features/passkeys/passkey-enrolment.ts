import { Injectable } from '@nestjs/common';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Unauthenticated } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { clip } from '../../request/http/client-info';
import { FIELD_MAX } from '../../request/http/request-body';
import { RequiredFactors } from '../login-challenge/required-factors';
import { CodeFactor } from '../login-challenge/second-factors';
import { AccountLock } from '../sessions/account-lock';
import { Ceremonies } from './ceremonies';
import { EncryptedKeys } from './encrypted-keys';
import type { PasskeyList } from './passkey.entity';
import { type NewPasskey, PasskeyStore } from './passkey.store';
import { PasskeyNotFound, PasskeyRefused } from './passkeys.errors';
import { PasskeyAdded, PasskeyRemoved } from './passkeys.events';
import { creationOptions } from './webauthn/options';
import { ALGORITHMS, isCredentialId, userHandleOf } from './webauthn/responses';
import { RegistrationVerifier } from './webauthn/verify-registration';

/** A session from which a passkey is added. */
type AddingSession = Pick<Caller, 'userId' | 'familyId'>;

/** Adds passkeys to the account of a user. */
@Injectable()
export class PasskeyEnrolment {
  constructor(
    private readonly ceremonies: Ceremonies,
    private readonly verifier: RegistrationVerifier,
    private readonly store: PasskeyStore,
    private readonly keys: EncryptedKeys,
    private readonly accountLock: AccountLock,
    private readonly users: TimedUserProvider,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  async options({ userId, user }: Pick<Caller, 'userId' | 'user'>): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const holder = {
      handle: userHandleOf(userId),
      name: this.users.identifierOf(user) || userId,
      passkeys: await this.store.list(userId),
    };
    return creationOptions(
      this.realm.options.passkeys,
      ALGORITHMS,
      holder,
      await this.ceremonies.startRegistration(userId),
    );
  }

  /** @throws PasskeyRefused; Unauthenticated when the caller's session has ended in the meantime */
  async register(caller: Caller, credential: unknown, name: string | null): Promise<void> {
    const passkey = await this.verified(caller.userId, credential, name);
    if (!(await this.add(caller, passkey))) throw new PasskeyRefused('not_registered');
  }

  /** Verifies a new passkey. The ceremony cannot be used again. @throws PasskeyRefused */
  async verified(userId: string, credential: unknown, name: string | null): Promise<NewPasskey> {
    const challenge = await this.ceremonies.takeRegistration(userId);
    const found = challenge && (await this.verifier.verify(credential, challenge));
    if (!found) throw new PasskeyRefused('not_registered');
    const publicKey = this.keys.encrypt({ credentialId: found.credentialId, userId }, found.publicKey);
    return { ...found, userId, name: clip(name, FIELD_MAX), publicKey };
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
    session: AddingSession,
    passkey: NewPasskey,
    most?: number,
    isAllowed: () => Promise<boolean> = async () => true,
  ): Promise<boolean> {
    const { userId, credentialId } = passkey;
    const stored = await this.accountLock.exclusiveForSession(session, (sql) => this.store.add(sql, passkey, most));
    if (!stored) return false;
    if (!this.store.checksUsers) await this.discardWithoutUser(userId, credentialId);
    if (!(await isAllowed())) {
      await this.store.remove(userId, credentialId);
      return false;
    }
    this.events.emit(new PasskeyAdded(userId, credentialId, this.realm.guard));
    return true;
  }

  /**
   * Deletes a new passkey if its user does not exist any more. A deletion of the user removes the passkeys afterwards, so
   * either it removes this one, or this check finds no user.
   */
  private async discardWithoutUser(userId: string, credentialId: string): Promise<void> {
    if (await this.users.findById(userId)) return;
    await this.store.remove(userId, credentialId);
    throw new Unauthenticated(true).withReason('unknown_user', userId);
  }
}

/** Lists, renames and deletes the passkeys of one user. */
@Injectable()
export class PasskeyManagement {
  constructor(
    private readonly store: PasskeyStore,
    private readonly codes: CodeFactor,
    private readonly requiredFactors: RequiredFactors,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  async list(userId: string): Promise<PasskeyList> {
    const stored = await this.store.list(userId);
    return {
      passkeys: stored.map(({ id, name, last_used_at }) => ({ id, name, last_used_at })),
      rp_id: this.realm.options.passkeys.rpId!,
      user_handle: userHandleOf(userId),
      all_accepted_credential_ids: stored.map(({ id }) => id),
    };
  }

  /** @throws PasskeyNotFound for an id that is not a passkey of the user */
  async rename(userId: string, id: string, name: string | null): Promise<void> {
    const renamed = isCredentialId(id) && (await this.store.rename(userId, id, clip(name, FIELD_MAX)));
    if (!renamed) throw new PasskeyNotFound();
  }

  /**
   * Deletes a passkey of the user. Any other id has no effect.
   *
   * @throws SecondFactorRequired for the last factor of a user who must have one
   */
  async remove(caller: Pick<Caller, 'user' | 'userId'>, id: string): Promise<void> {
    const { userId } = caller;
    if (!isCredentialId(id)) return;
    const hasAnother = async (): Promise<boolean> => {
      const ids = (await this.store.list(userId)).map((passkey) => passkey.id);
      return !ids.includes(id) || ids.length > 1 || (await this.codes.stateOf(userId)) !== null;
    };
    await this.requiredFactors.remove(caller, hasAnother, async () => {
      const removed = await this.store.remove(userId, id);
      if (removed) this.events.emit(new PasskeyRemoved(userId, id, this.realm.guard));
    });
  }
}
