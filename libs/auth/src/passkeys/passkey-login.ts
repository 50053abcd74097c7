import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { clientInfo } from '../http/client-info';
import type { SessionTokens } from '../http/session-tokens';
import { Unauthenticated } from '../kernel/auth.exception';
import { answered } from '../kernel/unavailable';
import { AccountLockout } from '../lockout/account-lockout';
import { userLock } from '../lockout/lock-key';
import { UnverifiedBlock } from '../login/unverified-block';
import { Sessions } from '../sessions/sessions';
import { UserProvider } from '../users/user-provider';
import type { AssertionRequest } from './assertion.request';
import { PasskeyAssertions } from './passkey-assertions';

/** `POST /passkeys/login`: from a passkey to a session. A passkey is two factors in one: no second step follows. */
@Injectable()
export class PasskeyLogin {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly users: UserProvider,
    private readonly unverified: UnverifiedBlock,
    private readonly lockout: AccountLockout,
    private readonly sessions: Sessions,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** @throws PasskeyRefused, Unauthenticated for a user who is gone, UnverifiedLogin */
  async attempt({ ceremony_id: ceremonyId, credential }: AssertionRequest, request: object): Promise<SessionTokens> {
    const passkey = await this.assertions.verify(ceremonyId, credential);
    const { userId } = passkey;
    // A passkey outlives its user until the next sweep.
    const user = await answered('The user store', this.config.storeTimeoutMs, this.users.findById(userId));
    if (!user) throw new Unauthenticated(false).because('unknown_user', userId);
    this.unverified.refuse(user);
    await this.lockout.release([userLock('confirm', userId)]);
    const session = { userId, amr: ['webauthn'], client: clientInfo(request) };
    const tokens = await this.sessions.start(session, () => this.assertions.stands(passkey));
    if (!tokens) throw new Unauthenticated(false);
    return tokens;
  }
}
