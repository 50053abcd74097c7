import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../http/client-info';
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
  ) {}

  async of(user: object, client: ClientInfo): Promise<RegistrationAnswer> {
    const blocked = this.unverified.holds(user);
    const withoutSession = { registered: true, requires_verification: blocked } as const;
    if (!this.realm.options.registration.login) return withoutSession;
    const userId = this.users.idOf(user);
    const challenge = await this.secondStep.challengeFor(user, userId);
    if (challenge) return challenge;
    return blocked ? withoutSession : this.sessions.start({ userId, amr: ['pwd'], client });
  }
}
