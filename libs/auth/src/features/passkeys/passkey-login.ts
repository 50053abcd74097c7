import { Injectable } from '@nestjs/common';
import { Realm, errors, type http, identity, input, locking, session } from '../../kit';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyRefused } from './passkeys.errors';

/** Signs a user in with a passkey (`POST /passkeys/login`). A passkey combines two factors, so no challenge follows. */
@Injectable()
export class PasskeyLogin {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly users: identity.TimedUserProvider,
    private readonly unverified: session.UnverifiedBlock,
    private readonly lockout: locking.AccountLockout,
    private readonly signIn: session.SignIn,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws PasskeyRefused, UnverifiedLogin, SignInRefused; Unauthenticated for a user that does not exist any more; ValidationFailed before
   * the ceremony is used
   */
  async attempt(
    { ceremony_id: ceremonyId, credential }: AssertionRequest,
    request: object,
  ): Promise<http.SessionTokens> {
    const remember = input.rememberIn(request, this.realm.options);
    let user = null as object | null;
    const admit = async (id: string): Promise<void> => {
      user = await this.users.findById(id);
      // Otherwise a login with the passkey of a registration would show whether the registration created the account.
      const isConcealed = this.realm.options.features.passkeyRegistration && user && this.unverified.isConcealed(user);
      if (isConcealed) throw new PasskeyRefused('not_verified').withReason('unverified_login', id);
    };
    const passkey = await this.assertions.verify(ceremonyId, credential, admit);
    const { userId } = passkey;
    // The passkeys of a deleted user exist until they are pruned.
    if (!user) throw new errors.Unauthenticated(false).withReason('unknown_user', userId);
    const signIn = await this.signIn.admitTwoFactors({ user, userId });
    await this.lockout.release([locking.userLock('confirm', userId)]);
    const ending = { methods: ['webauthn'], request, remember, credentialId: passkey.credentialId };
    const tokens = await this.signIn.complete(signIn, ending, () => this.assertions.isCurrent(passkey));
    if (!tokens) throw new errors.Unauthenticated(false);
    return tokens;
  }
}

/**
 * Confirms the identity of the caller with a passkey (`POST /confirm-passkey`) and issues a confirmation token. Rate
 * limited, but without a lock, because a passkey cannot be guessed.
 */
@Injectable()
export class PasskeyConfirmation {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly confirmations: session.Confirmations,
    private readonly lockout: locking.AccountLockout,
    private readonly realm: Realm,
  ) {}

  /** @throws PasskeyRefused */
  async confirm(
    caller: identity.Caller,
    { ceremony_id: ceremonyId, credential }: AssertionRequest,
  ): Promise<{ confirmation_token: string }> {
    const { features, facts } = this.realm.options;
    const isConcealed = features.passkeyRegistration && facts.concealsAccounts;
    const { userId } = caller;
    await this.assertions.verifyOf(userId, ceremonyId, credential, isConcealed ? 'not_verified' : 'not_yours');
    await this.lockout.release([locking.userLock('confirm', userId)]);
    return { confirmation_token: await this.confirmations.mint(caller) };
  }
}

/** The response to a login ceremony: the body of `POST /passkeys/login` and `POST /confirm-passkey`. */
export class AssertionRequest {
  @input.RequiredText()
  ceremony_id!: string;

  @input.RequiredObject()
  credential!: object;
}
