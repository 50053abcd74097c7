import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { Inject, Injectable } from '@nestjs/common';
import { Realm } from '../../../foundation/realm/realm';
import { ALGORITHMS, isTopLevel, registrationFrom } from './responses';
import { isSound } from './public-key';
import type { Usage } from '../sign-count.policy';
import { WEBAUTHN, type Webauthn } from './library';

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
    @Inject(WEBAUTHN) private readonly load: () => Webauthn,
    private readonly realm: Realm,
  ) {}

  /** The credential; null for every response that is not sound. Throws for none. */
  async verify(sent: unknown, challenge: string): Promise<NewCredential | null> {
    const response = registrationFrom(sent);
    if (!response) return null;
    const webauthn = this.load();
    try {
      return await this.verified(webauthn, response, challenge);
    } catch {
      // The library throws for what does not match and for what it cannot read; it asks nobody who could be down.
      return null;
    }
  }

  private async verified(
    webauthn: Webauthn,
    response: RegistrationResponseJSON,
    challenge: string,
  ): Promise<NewCredential | null> {
    const { clientDataJSON, attestationObject, transports = [] } = response.response;
    const authData = unattested(webauthn, new Uint8Array(Buffer.from(attestationObject, 'base64url')));
    // Before the rest: for other formats the library would fetch revocation lists from wherever the sent
    // certificates say.
    if (!authData || !isTopLevel(webauthn.decodeClientDataJSON(clientDataJSON))) return null;
    const { rpId, origins } = this.realm.options.passkeys;
    const { registrationInfo: found } = await webauthn.verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origins,
      expectedRPID: rpId!,
      requireUserVerification: false,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!found || found.credential.id !== response.id) return null;
    const { publicKey, counter: signCount } = found.credential;
    const key = webauthn.decodeCredentialPublicKey(publicKey);
    if (!isSound(key) || !standsIn(authData, publicKey, response.id)) return null;
    return {
      credentialId: response.id,
      publicKey,
      signCount,
      transports,
      aaguid: found.aaguid,
      backupEligible: found.credentialDeviceType === 'multiDevice',
      backedUp: found.credentialBackedUp,
    };
  }
}

/** The authenticator data of an attestation object that attests nothing; null for every other. */
function unattested(webauthn: Webauthn, bytes: Uint8Array<ArrayBuffer>): Uint8Array | null {
  const attestation = webauthn.decodeAttestationObject(bytes);
  // One spelling only, as decoders should (§2.2, CTAP2 canonical CBOR): the library reads beyond the end.
  if (!Buffer.from(webauthn.isoCBOR.encode(attestation as never)).equals(bytes)) return null;
  const statement = attestation.get('attStmt');
  const isNone = attestation.get('fmt') === 'none' && statement instanceof Map && statement.size === 0;
  return isNone ? attestation.get('authData') : null;
}

/** Bytes of authenticator data before the credential id: hash, flags, count, model and the id's length (§6.1). */
const BEFORE_ID = 55;

/** Whether the key, as it was read and written anew, is what was sent. */
function standsIn(authData: Uint8Array, publicKey: Uint8Array, credentialId: string): boolean {
  const start = BEFORE_ID + Buffer.byteLength(credentialId, 'base64url');
  return Buffer.from(authData)
    .subarray(start, start + publicKey.length)
    .equals(publicKey);
}
