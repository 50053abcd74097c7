import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Realm } from '../../foundation/realm/realm';
import { AssertionVerifier } from './webauthn/verify-assertion';
import { Ceremonies } from './ceremonies';
import { assertionFrom, userHandleOf } from './webauthn/responses';
import { PasskeyBackupChanged, PasskeyCloneDetected } from './passkeys.events';
import { requestOptions } from './webauthn/options';
import { PasskeyRefused } from './passkeys.errors';
import { PasskeyStore } from './passkey.store';
import { type KeyOwner, EncryptedKeys } from './encrypted-keys';
import type { Usage } from './sign-count.policy';

/** Proves who has a passkey. Sign-in, step-up and second step all stand on {@link verify}. */
@Injectable()
export class PasskeyAssertions {
  constructor(
    private readonly ceremonies: Ceremonies,
    private readonly store: PasskeyStore,
    private readonly keys: EncryptedKeys,
    private readonly verifier: AssertionVerifier,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** Starts a ceremony that {@link verify} ends. */
  async start(): Promise<{ ceremony_id: string; options: PublicKeyCredentialRequestOptionsJSON }> {
    const { ceremonyId, challenge } = await this.ceremonies.startLogin();
    return { ceremony_id: ceremonyId, options: requestOptions(this.realm.options.passkeys, challenge) };
  }

  /**
   * The passkey that answered a login ceremony, and its owner, who may be gone: look the user up.
   *
   * @param credential as the client sent it: anything
   * @throws PasskeyRefused for every response that is not sound; StoreUnavailable; Error for a stored key that
   * cannot be decrypted
   */
  async verify(ceremonyId: string, credential: unknown): Promise<KeyOwner> {
    // First of all: whatever comes of it, no ceremony is answered twice.
    const challenge = await this.ceremonies.takeLogin(ceremonyId);
    const response = assertionFrom(credential);
    const passkey = challenge && response && (await this.store.find(response.id));
    if (!passkey || response.response.userHandle !== userHandleOf(passkey.userId))
      throw new PasskeyRefused('not_verified');
    const owner = { credentialId: response.id, userId: passkey.userId };
    const publicKey = this.keys.decrypt(owner, passkey.publicKey);
    const used = await this.verifier.verify(response, challenge, publicKey);
    if (!used) throw new PasskeyRefused('not_verified');
    await this.record(owner, used);
    return owner;
  }

  /**
   * Whether a passkey that was verified is still there. Asked once what it was verified for is stored: whoever removes
   * all passkeys ends the sessions after that, so either meets the other.
   */
  isCurrent({ credentialId }: KeyOwner): Promise<boolean> {
    return this.store.exists(credentialId);
  }

  /** Only what is signed gets here, so only its authenticator or a copy of it can raise an alarm. */
  private async record({ userId, credentialId }: KeyOwner, used: Usage): Promise<void> {
    const use = await this.store.recordUse(credentialId, used);
    const { guard } = this.realm;
    if (use?.verdict === 'clone') this.events.emit(new PasskeyCloneDetected(userId, credentialId, guard));
    if (use?.verdict !== 'accept') throw new PasskeyRefused('not_verified');
    if (use.backupChanged) this.events.emit(new PasskeyBackupChanged(userId, credentialId, guard, used.backedUp));
  }
}
