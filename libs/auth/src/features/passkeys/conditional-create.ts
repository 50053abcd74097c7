import { Injectable } from '@nestjs/common';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { type identity, session } from '../../kit';
import { PasskeyEnrolment } from './passkey-enrolment';
import { PasskeyStore } from './passkey.store';
import { PasskeyRefused } from './passkeys.errors';

/**
 * Adds the first passkey of a user, which the browser creates without a question (WebAuthn Level 3 §5.1.3, conditional
 * mediation). A recent login with the password takes the place of the confirmation. Every later use of the passkey verifies
 * the user as `passkeys.userVerification` requires.
 */
@Injectable()
export class ConditionalCreate {
  constructor(
    private readonly enrolment: PasskeyEnrolment,
    private readonly confirmations: session.Confirmations,
    private readonly store: PasskeyStore,
  ) {}

  /** @throws ConfirmationRequired without a recent login with the password; PasskeyRefused for a user with a passkey */
  async options(caller: identity.Caller): Promise<PublicKeyCredentialCreationOptionsJSON> {
    await this.confirmations.requirePasswordLogin(caller);
    if (await this.store.existsFor(caller.userId)) throw new PasskeyRefused('not_registered');
    return this.enrolment.begin(caller, 'conditional');
  }

  /** @throws ConfirmationRequired, PasskeyRefused; Unauthenticated when the caller's session has ended in the meantime */
  async register(caller: identity.Caller, credential: unknown, name: string | null): Promise<void> {
    await this.confirmations.requirePasswordLogin(caller);
    await this.enrolment.complete(caller, credential, name, 'conditional');
  }
}
