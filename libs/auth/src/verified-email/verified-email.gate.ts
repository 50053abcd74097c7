import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Gate } from '../http/gate';
import { Realm } from '../realm/realm';
import { callerAt } from '../tokens/caller';
import { UserProvider } from '../users/user-provider';
import { EmailUnverified } from './email-unverified.exception';

/** Requires a verified email of the user as just read, never of a claim. Users without such a notion pass. */
@Injectable()
export class VerifiedEmailGate implements Gate {
  static readonly stage = 'verification';

  constructor(
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {}

  check(_context: ExecutionContext, request: object): void {
    const caller = callerAt(request, this.realm.guard);
    if (this.users.isEmailVerified(caller.user) === false) throw new EmailUnverified();
  }
}
