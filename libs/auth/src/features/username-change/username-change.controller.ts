import { Controller, Injectable, Req } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, signInRefusal, status } from '../../request/routes/route';
import { IdentifierTaken } from '../login/account-opening';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { UsernameChange, UsernameChangeBody } from './username-change';

declare module '../../foundation/platform/catalogue' {
  interface Operations {
    username_change: true;
  }
}

@Controller('username')
export class UsernameController {
  constructor(private readonly username: UsernameChange) {}

  @Route('POST', '', {
    operation: 'username_change',
    summary: 'Changes the identifier, where it is not the email',
    gates: [RequireIfPinned('svc.account'), RequireConfirmation()],
    limiter: 'svc-username-change',
    answer: status('username-changed'),
    refusals: (options) => [new IdentifierTaken(options.username), ...signInRefusal(options)],
  })
  async change(
    @CurrentCaller() caller: Caller,
    @RequestBody(UsernameChangeBody) { identifier }: UsernameChangeBody,
    @Req() request: object,
  ): Promise<{ status: string }> {
    await this.username.change(caller, identifier, request);
    return { status: 'username-changed' };
  }
}

/**
 * Change of the identifier by its user, where it is not the email, for code of the host. Needs `features.usernameChange`.
 *
 * @publicApi
 */
@Injectable()
export class UsernameChangeFlow extends Flow {
  /**
   * As `POST /username`: replaces the identifier of the caller.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, IdentifierTaken, ValidationFailed, InsufficientScope, TooManyRequests,
   * StoreUnavailable; AuthConfigError where the identifier is the email
   */
  async change(username: string, source: CallSource): Promise<void> {
    await this.call(UsernameController, 'change', source, { input: { identifier: username } });
  }
}
