import { Injectable } from '@nestjs/common';
import { Realm, crypto } from '../../kit';

/** The passkey and the user that a public key belongs to. */
export interface PublicKeyOwner {
  readonly credentialId: string;
  readonly userId: string;
  /** By default the guard of the realm. */
  readonly guard?: string;
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

  encrypt(owner: PublicKeyOwner, publicKey: Uint8Array): string {
    return this.encryption.encrypt(publicKey, this.contextOf(owner));
  }

  /** @throws Error for a key that is damaged, was moved to another row, or whose encryption key is not configured any more */
  decrypt(owner: PublicKeyOwner, sealed: string): Uint8Array<ArrayBuffer> {
    const publicKey = this.decryptIfOurs(owner, sealed);
    if (publicKey) return publicKey;
    throw new Error(
      `The public key of the passkey ${owner.credentialId} cannot be decrypted. Was encryption.key (SVC_ENCRYPTION_KEY) changed without keeping the former one in encryption.previousKeys?`,
    );
  }

  /** As {@link decrypt}, but null where that throws: another application can have stored the passkey of another guard. */
  decryptIfOurs(owner: PublicKeyOwner, sealed: string): Uint8Array<ArrayBuffer> | null {
    const publicKey = this.encryption.decrypt(sealed, this.contextOf(owner));
    return publicKey && new Uint8Array(publicKey);
  }

  private contextOf({ credentialId, userId, guard = this.realm.guard }: PublicKeyOwner): string {
    return JSON.stringify(['passkey', guard, userId, credentialId]);
  }
}
