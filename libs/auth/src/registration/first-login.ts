import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import type { ClientInfo } from '../http/client-info';
import { answered } from '../kernel/unavailable';
import { SecondStep } from '../login/second-step';
import { UnverifiedBlock } from '../login/unverified-block';
import { Realm } from '../realm/realm';
import { Sessions } from '../sessions/sessions';
import { UserProvider } from '../users/user-provider';
import type { RegistrationAnswer } from './registration';

/** Signs a new user in, as a login with the password just chosen would. */
@Injectable()
export class FirstLogin {
  constructor(
    private readonly users: UserProvider,
    private readonly secondStep: SecondStep,
    private readonly unverified: UnverifiedBlock,
    private readonly sessions: Sessions,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  async of(user: object, client: ClientInfo): Promise<RegistrationAnswer> {
    const blocked = this.unverified.holds(user);
    const withoutSession = { registered: true, requires_verification: blocked } as const;
    if (!this.realm.options.registration.login) return withoutSession;
    const userId = this.users.idOf(user);
    const digest = await answered('The user store', this.config.storeTimeoutMs, this.users.passwordHashOf(userId));
    const challenge = await this.secondStep.challengeFor(user, userId, digest);
    if (challenge) return challenge;
    if (blocked) return withoutSession;
    // Who was deleted or given another password already has registered, and no more than that.
    const tokens = await this.sessions.start({ userId, amr: ['pwd'], client }, (stored) => stored === digest);
    return tokens ?? withoutSession;
  }
}
