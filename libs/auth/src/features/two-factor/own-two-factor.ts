import { Injectable } from '@nestjs/common';
import { AccountStandings } from '../../identity/tokens/access-tokens';
import type { Caller } from '../../identity/tokens/caller';
import { Sessions } from '../sessions/sessions';
import { type Enrolment, TwoFactor } from './two-factor';

/**
 * The second factor of a caller. Nothing is stored for a user whom `hooks.canSignIn` refuses, and nothing remains stored if the
 * session of the caller ends meanwhile.
 */
@Injectable()
export class OwnTwoFactor {
  constructor(
    private readonly twoFactor: TwoFactor,
    private readonly sessions: Sessions,
    private readonly standings: AccountStandings,
  ) {}

  /** @throws SignInRefused; and the errors of {@link TwoFactor.enrol} */
  async enrol(caller: Caller): Promise<Enrolment> {
    await this.standings.refuse(caller.userId);
    return this.twoFactor.enrol(caller.user, () => this.sessions.isAlive(caller.familyId));
  }

  /** @throws SignInRefused, before the code is used; and the errors of {@link TwoFactor.confirm} */
  async confirm({ userId, familyId }: Caller, code: string): Promise<void> {
    await this.standings.refuse(userId);
    await this.twoFactor.confirm(userId, code, () => this.sessions.isAlive(familyId));
  }

  /** @throws SignInRefused; and the errors of {@link TwoFactor.replaceRecoveryCodes} */
  async replaceRecoveryCodes({ userId, familyId }: Caller): Promise<string[]> {
    await this.standings.refuse(userId);
    return this.twoFactor.replaceRecoveryCodes(userId, () => this.sessions.isAlive(familyId));
  }
}
