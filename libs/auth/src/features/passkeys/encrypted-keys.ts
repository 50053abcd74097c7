import { Injectable } from '@nestjs/common';
import { Encryption } from '../../foundation/platform/crypto';
import { Realm } from '../../foundation/realm/realm';

/** Whose public key it is. */
export interface KeyOwner {
  readonly credentialId: string;
  readonly userId: string;
}

/** Public keys as they are stored: whoever can write to the table must not sign in with a key of their own. */
@Injectable()
export class EncryptedKeys {
  constructor(
    private readonly encryption: Encryption,
    private readonly realm: Realm,
  ) {}

  encrypt(owner: KeyOwner, publicKey: Uint8Array): string {
    return this.encryption.encrypt(publicKey, this.contextOf(owner));
  }

  /** @throws Error for a key that was damaged, moved, or encrypted under a key that is no longer configured: no fault of the caller's */
  decrypt(owner: KeyOwner, sealed: string): Uint8Array<ArrayBuffer> {
    const publicKey = this.encryption.decrypt(sealed, this.contextOf(owner));
    if (publicKey) return new Uint8Array(publicKey);
    throw new Error(
      `The public key of the passkey ${owner.credentialId} cannot be decrypted. Was encryption.key (SVC_ENCRYPTION_KEY) changed without keeping the former one in encryption.previousKeys?`,
    );
  }

  private contextOf({ credentialId, userId }: KeyOwner): string {
    return JSON.stringify(['passkey', this.realm.guard, userId, credentialId]);
  }
}
