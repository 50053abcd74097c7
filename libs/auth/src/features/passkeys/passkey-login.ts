import { Injectable } from '@nestjs/common';
import { Unauthenticated } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { RequiredObject, RequiredText, rememberIn } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { userLock } from '../../request/lockout/lockout.store';
import { AccountLockout } from '../../request/lockout/lockout';
import { SignIn, UnverifiedBlock } from '../sessions/sign-in';
import { Confirmations } from '../step-up/confirmations';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyRefused } from './passkeys.errors';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Signs a user in with a passkey (`POST /passkeys/login`). A passkey combines two factors, so no challenge follows. */
@Injectable()
export class PasskeyLogin {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly users: TimedUserProvider,
    private readonly unverified: UnverifiedBlock,
    private readonly lockout: AccountLockout,
    private readonly signIn: SignIn,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws PasskeyRefused, UnverifiedLogin, SignInRefused; Unauthenticated for a user that does not exist any more; ValidationFailed before
   * the ceremony is used
   */
  async attempt({ ceremony_id: ceremonyId, credential }: AssertionRequest, request: object): Promise<SessionTokens> {
    const remember = rememberIn(request, this.realm.options);
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
    if (!user) throw new Unauthenticated(false).withReason('unknown_user', userId);
    const signIn = await this.signIn.admitTwoFactors({ user, userId });
    await this.lockout.release([userLock('confirm', userId)]);
    const ending = { methods: ['webauthn'], request, remember, credentialId: passkey.credentialId };
    const tokens = await this.signIn.complete(signIn, ending, () => this.assertions.isCurrent(passkey));
    if (!tokens) throw new Unauthenticated(false);
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
    private readonly confirmations: Confirmations,
    private readonly lockout: AccountLockout,
    private readonly realm: Realm,
  ) {}

  /** @throws PasskeyRefused */
  async confirm(
    caller: Caller,
    { ceremony_id: ceremonyId, credential }: AssertionRequest,
  ): Promise<{ confirmation_token: string }> {
    const { features, facts } = this.realm.options;
    const isConcealed = features.passkeyRegistration && facts.concealsAccounts;
    const { userId } = caller;
    await this.assertions.verifyOf(userId, ceremonyId, credential, isConcealed ? 'not_verified' : 'not_yours');
    await this.lockout.release([userLock('confirm', userId)]);
    return { confirmation_token: await this.confirmations.mint(caller) };
  }
}

/** The response to a login ceremony: the body of `POST /passkeys/login` and `POST /confirm-passkey`. */
export class AssertionRequest {
  @RequiredText()
  ceremony_id!: string;

  @RequiredObject()
  credential!: object;
}
