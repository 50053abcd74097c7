import { Inject, Injectable } from '@nestjs/common';
import { Realm } from '../realm/realm';
import { ALGORITHMS, isTopLevel, registrationFrom } from './credential.policy';
import { isSound } from './public-key';
import type { Usage } from './use.policy';
import { WEBAUTHN, type Webauthn } from './webauthn';

/** A verified registration. */
export interface NewCredential extends Usage {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly transports: readonly string[];
  readonly aaguid: string;
}

/** Verifies what an authenticator answers to creation options (WebAuthn Level 3 §7.1). */
@Injectable()
export class RegistrationVerifier {
  constructor(
    @Inject(WEBAUTHN) private readonly webauthn: Webauthn,
    private readonly realm: Realm,
  ) {}

  /** The credential; null for every response that is not sound. Throws for none. */
  async verify(sent: unknown, challenge: string): Promise<NewCredential | null> {
    const response = registrationFrom(sent);
    if (!response) return null;
    try {
      return await this.verified(response, challenge);
    } catch {
      // The library throws for what does not match and for what it cannot read; it asks nobody who could be down.
      return null;
    }
  }

  private async verified(
    response: NonNullable<ReturnType<typeof registrationFrom>>,
    challenge: string,
  ): Promise<NewCredential | null> {
    const { clientDataJSON, attestationObject, transports = [] } = response.response;
    const bytes = new Uint8Array(Buffer.from(attestationObject, 'base64url'));
    const attestation = this.webauthn.decodeAttestationObject(bytes);
    // One spelling only, as decoders should (§2.2, CTAP2 canonical CBOR); the library's reads beyond the end.
    if (!Buffer.from(this.webauthn.isoCBOR.encode(attestation as never)).equals(bytes)) return null;
    const statement = attestation.get('attStmt');
    // Before anything else: for other formats the library would fetch revocation lists from wherever the sent
    // certificates say.
    if (attestation.get('fmt') !== 'none' || !(statement instanceof Map) || statement.size) return null;
    if (!isTopLevel(this.webauthn.decodeClientDataJSON(clientDataJSON))) return null;
    const { rpId, origins } = this.realm.options.passkeys;
    const { registrationInfo: found } = await this.webauthn.verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origins,
      expectedRPID: rpId!,
      requireUserVerification: false,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!found || found.credential.id !== response.id) return null;
    if (!isSound(this.webauthn.decodeCredentialPublicKey(found.credential.publicKey))) return null;
    return {
      credentialId: response.id,
      publicKey: found.credential.publicKey,
      signCount: found.credential.counter,
      transports,
      aaguid: found.aaguid,
      backupEligible: found.credentialDeviceType === 'multiDevice',
      backedUp: found.credentialBackedUp,
    };
  }
}
