import { Injectable } from '@nestjs/common';
import { Realm, crypto } from '../../kit';

/** The passkey and the user that a public key belongs to. */
export interface KeyOwner {
  readonly credentialId: string;
  readonly userId: string;
}

/**
 * Encrypts public keys for storage, bound to their passkey, user and guard. An attacker with write access to the table
 * cannot sign in with another key.
 */
@Injectable()
export class EncryptedKeys {
  constructor(
    private readonly encryption: crypto.Encryption,
    private readonly realm: Realm,
  ) {}

  encrypt(owner: KeyOwner, publicKey: Uint8Array): string {
    return this.encryption.encrypt(publicKey, this.contextOf(owner));
  }

  /** @throws Error for a key that is damaged, was moved to another row, or whose encryption key is not configured any more */
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
