import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { Inject, Injectable } from '@nestjs/common';
import { Realm } from '../../../kit';
import { isTopLevel } from './responses';
import { isEcdsaKey, isSound, isEcdsaSignature } from './public-key';
import { acceptedOrigins } from '../relying-party';
import type { Usage } from '../sign-count.policy';
import { WEBAUTHN, type Webauthn } from './library';

/** Verifies the authenticator's response to request options (WebAuthn Level 3 §7.2). */
@Injectable()
export class AssertionVerifier {
  constructor(
    @Inject(WEBAUTHN) private readonly load: () => Webauthn,
    private readonly realm: Realm,
  ) {}

  /** Returns the counter and backup flags; null for every invalid response. An invalid response causes no error. */
  async verify(
    response: AuthenticationResponseJSON,
    challenge: string,
    publicKey: Uint8Array<ArrayBuffer>,
  ): Promise<Usage | null> {
    const webauthn = this.load();
    try {
      return await this.verified(webauthn, response, challenge, publicKey);
    } catch {
      // The library throws for values that do not match or cannot be parsed. It uses no store, so no outage is hidden.
      return null;
    }
  }

  private async verified(
    webauthn: Webauthn,
    response: AuthenticationResponseJSON,
    challenge: string,
    publicKey: Uint8Array<ArrayBuffer>,
  ): Promise<Usage | null> {
    if (!isTopLevel(webauthn.decodeClientDataJSON(response.response.clientDataJSON))) return null;
    const key = webauthn.decodeCredentialPublicKey(publicKey);
    if (!isSound(key)) return null;
    // The library accepts encodings of a signature that are not DER.
    if (isEcdsaKey(key) && !isEcdsaSignature(Buffer.from(response.response.signature, 'base64url'))) return null;
    const { passkeys } = this.realm.options;
    const { rpId, userVerification } = passkeys;
    const { verified, authenticationInfo } = await webauthn.verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: acceptedOrigins(passkeys),
      expectedRPID: rpId!,
      requireUserVerification: userVerification === 'required',
      // The counter is checked while the row is locked: see `PasskeyStore.recordUse`.
      credential: { id: response.id, publicKey, counter: 0 },
    });
    if (!verified) return null;
    return {
      signCount: authenticationInfo.newCounter,
      backupEligible: authenticationInfo.credentialDeviceType === 'multiDevice',
      backedUp: authenticationInfo.credentialBackedUp,
    };
  }
}
