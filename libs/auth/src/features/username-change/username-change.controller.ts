import { Controller, Req } from '@nestjs/common';
import { http, type identity, session } from '../../kit';
import { UsernameChange, UsernameChangeBody } from './username-change';

@Controller('username')
export class UsernameController {
  constructor(private readonly username: UsernameChange) {}

  @http.Route('POST', '', 'username_change', {
    summary: 'Changes the identifier, where it is not the email',
    gates: [http.RequireIfPinned('svc.account'), http.RequireConfirmation()],
    limiter: 'svc-username-change',
    done: 'username-changed',
    refusals: [({ username }) => new session.IdentifierTaken(username), http.signInRefusal],
  })
  change(
    @http.CurrentCaller() caller: identity.Caller,
    @http.RequestBody() { identifier }: UsernameChangeBody,
    @Req() request: object,
  ) {
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
export class UsernameChangeFlow extends http.Flow {
  /**
   * As `POST /username`: replaces the identifier of the caller.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, IdentifierTaken, ValidationFailed, InsufficientScope, TooManyRequests,
   * StoreUnavailable; AuthConfigError where the identifier is the email
   */
  change(username: string, source: http.CallSource): Promise<void> {
    return this.call(UsernameController, 'change', source, { identifier: username });
  }
}
