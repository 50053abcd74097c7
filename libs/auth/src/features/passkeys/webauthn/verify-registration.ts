import type { CreationKind } from '../ceremonies';
import type { NewCredential } from '../passkey.entity';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { Inject, Injectable } from '@nestjs/common';
import { Realm } from '../../../kit';
import { ALGORITHMS, isTopLevel, registrationFrom } from './responses';
import { isMinimal, isSound } from './public-key';
import { WEBAUTHN, type Webauthn } from './library';

/** Verifies the authenticator's response to creation options (WebAuthn Level 3 §7.1). */
@Injectable()
export class RegistrationVerifier {
  constructor(
    @Inject(WEBAUTHN) private readonly load: () => Webauthn,
    private readonly realm: Realm,
  ) {}

  /**
   * Returns the credential; null for every invalid response. An invalid response causes no error.
   *
   * @param kind `account`: the user must be verified, because the passkey is the only way to sign in. `conditional`: the
   * user need not be present (§7.1 step 15, for `mediation: 'conditional'`)
   */
  async verify(
    sent: unknown,
    challenge: string,
    kind: CreationKind | 'account' = 'interactive',
  ): Promise<NewCredential | null> {
    const response = registrationFrom(sent);
    if (!response) return null;
    const webauthn = this.load();
    try {
      return await this.verified(webauthn, response, challenge, kind);
    } catch {
      // The library throws for values that do not match or cannot be parsed. It uses no store, so no outage is hidden.
      return null;
    }
  }

  private async verified(
    webauthn: Webauthn,
    response: RegistrationResponseJSON,
    challenge: string,
    kind: CreationKind | 'account',
  ): Promise<NewCredential | null> {
    const { clientDataJSON, attestationObject, transports = [] } = response.response;
    const authData = unattested(webauthn, new Uint8Array(Buffer.from(attestationObject, 'base64url')));
    // First, because for other attestation formats the library would fetch revocation lists from URLs in the submitted
    // certificates.
    if (!authData || !isTopLevel(webauthn.decodeClientDataJSON(clientDataJSON))) return null;
    const { rpId, origins, userVerification } = this.realm.options.passkeys;
    const { registrationInfo: found } = await webauthn.verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origins,
      expectedRPID: rpId!,
      requireUserPresence: kind !== 'conditional',
      // A passkey that no sign-in would accept is refused. The browser that creates one without a question verifies no user.
      requireUserVerification: kind === 'account' || (kind === 'interactive' && userVerification === 'required'),
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!found || found.credential.id !== response.id) return null;
    const { publicKey, counter: signCount } = found.credential;
    const key = webauthn.decodeCredentialPublicKey(publicKey);
    if (!isSound(key) || !isMinimal(key) || !containsKey(authData, publicKey, response.id)) return null;
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

/** Returns the authenticator data of an attestation object with the format `none`; null for every other format. */
function unattested(webauthn: Webauthn, bytes: Uint8Array<ArrayBuffer>): Uint8Array | null {
  const attestation = webauthn.decodeAttestationObject(bytes);
  // Only canonical CBOR is accepted (CTAP2 canonical CBOR, §2.2): the library ignores bytes after the end.
  if (!Buffer.from(webauthn.isoCBOR.encode(attestation as never)).equals(bytes)) return null;
  const statement = attestation.get('attStmt');
  const isNone = attestation.get('fmt') === 'none' && statement instanceof Map && statement.size === 0;
  return isNone ? attestation.get('authData') : null;
}

/** Bytes of authenticator data before the credential id: RP id hash, flags, counter, AAGUID and id length (§6.1). */
const BEFORE_ID = 55;

/** Whether the parsed and re-encoded key is identical to the submitted one. */
function containsKey(authData: Uint8Array, publicKey: Uint8Array, credentialId: string): boolean {
  const start = BEFORE_ID + Buffer.byteLength(credentialId, 'base64url');
  return Buffer.from(authData)
    .subarray(start, start + publicKey.length)
    .equals(publicKey);
}
