import { Controller, Req } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, signInRefusal } from '../../request/routes/route';
import { IdentifierTaken } from '../login/account-opening';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { UsernameChange, UsernameChangeBody } from './username-change';

@Controller('username')
export class UsernameController {
  constructor(private readonly username: UsernameChange) {}

  @Route('POST', '', 'username_change', {
    summary: 'Changes the identifier, where it is not the email',
    gates: [RequireIfPinned('svc.account'), RequireConfirmation()],
    limiter: 'svc-username-change',
    done: 'username-changed',
    refusals: [({ username }) => new IdentifierTaken(username), signInRefusal],
  })
  change(@CurrentCaller() caller: Caller, @RequestBody() { identifier }: UsernameChangeBody, @Req() request: object) {
    return this.username.change(caller, identifier, request);
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Change of the identifier of a caller, where it is not the email. */
    readonly usernameChange: UsernameChangeFlow;
  }
}

/**
 * Change of the identifier by its user, where it is not the email, for code of the host. Needs `features.usernameChange`.
 *
 * @publicApi
 */
export class UsernameChangeFlow extends Flow {
  /**
   * As `POST /username`: replaces the identifier of the caller.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, IdentifierTaken, ValidationFailed, InsufficientScope, TooManyRequests,
   * StoreUnavailable; AuthConfigError where the identifier is the email
   */
  change(username: string, source: CallSource): Promise<void> {
    return this.call(UsernameController, 'change', source, { identifier: username });
  }
}
