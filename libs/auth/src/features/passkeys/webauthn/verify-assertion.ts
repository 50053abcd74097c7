import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { Inject, Injectable } from '@nestjs/common';
import { Realm } from '../../../foundation/realm/realm';
import { isTopLevel } from './responses';
import { isEcdsaKey, isSound, isEcdsaSignature } from './public-key';
import type { Usage } from '../sign-count.policy';
import { WEBAUTHN, type Webauthn } from './library';

/** Verifies what an authenticator answers to request options (WebAuthn Level 3 §7.2). */
@Injectable()
export class AssertionVerifier {
  constructor(
    @Inject(WEBAUTHN) private readonly load: () => Webauthn,
    private readonly realm: Realm,
  ) {}

  /** What the authenticator says of the passkey; null for every response that is not sound. Throws for none. */
  async verify(
    response: AuthenticationResponseJSON,
    challenge: string,
    publicKey: Uint8Array<ArrayBuffer>,
  ): Promise<Usage | null> {
    const webauthn = this.load();
    try {
      return await this.verified(webauthn, response, challenge, publicKey);
    } catch {
      // The library throws for what does not match and for what it cannot read; it asks nobody who could be down.
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
    // The library reads more spellings of a signature than there should be.
    if (isEcdsaKey(key) && !isEcdsaSignature(Buffer.from(response.response.signature, 'base64url'))) return null;
    const { rpId, origins, userVerification } = this.realm.options.passkeys;
    const { verified, authenticationInfo } = await webauthn.verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origins,
      expectedRPID: rpId!,
      requireUserVerification: userVerification === 'required',
      // The count is judged under the row's lock, not here.
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
