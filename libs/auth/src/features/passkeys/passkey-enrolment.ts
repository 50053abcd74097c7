import { Injectable } from '@nestjs/common';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Unauthenticated } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { clip } from '../../request/http/client-info';
import { FIELD_MAX } from '../../request/http/request-body';
import { AccountLock } from '../sessions/account-lock';
import { Ceremonies } from './ceremonies';
import { EncryptedKeys } from './encrypted-keys';
import type { PasskeyList } from './passkey.entity';
import { PasskeyStore } from './passkey.store';
import { PasskeyNotFound, PasskeyRefused } from './passkeys.errors';
import { PasskeyAdded, PasskeyRemoved } from './passkeys.events';
import { creationOptions } from './webauthn/options';
import { ALGORITHMS, isCredentialId, userHandleOf } from './webauthn/responses';
import { RegistrationVerifier } from './webauthn/verify-registration';

/** Adds passkeys to the account of the caller. */
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

  async options({ userId, user }: Caller): Promise<PublicKeyCredentialCreationOptionsJSON> {
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
    const { userId, guard } = caller;
    const challenge = await this.ceremonies.takeRegistration(userId);
    const found = challenge && (await this.verifier.verify(credential, challenge));
    if (!found) throw new PasskeyRefused('not_registered');
    const publicKey = this.keys.encrypt({ credentialId: found.credentialId, userId }, found.publicKey);
    const passkey = { ...found, userId, name: clip(name, FIELD_MAX), publicKey };
    const stored = await this.accountLock.exclusiveForSession(caller, (sql) => this.store.add(sql, passkey));
    if (!stored) throw new PasskeyRefused('not_registered');
    if (!this.store.checksUsers) await this.discardWithoutUser(userId, found.credentialId);
    this.events.emit(new PasskeyAdded(userId, found.credentialId, guard));
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

  /** Deletes a passkey of the user. Any other id has no effect. */
  async remove(userId: string, id: string): Promise<void> {
    const removed = isCredentialId(id) && (await this.store.remove(userId, id));
    if (removed) this.events.emit(new PasskeyRemoved(userId, id, this.realm.guard));
  }
}
