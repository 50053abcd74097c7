import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Controller, HttpCode, Injectable, Post, Req } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { UsernameChange, UsernameChangeBody } from './username-change';

@Controller('username')
export class UsernameController {
  constructor(private readonly username: UsernameChange) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @RequireIfPinned('svc.account')
  @Throttled('svc-email-change')
  @RequireConfirmation()
  async change(
    @CurrentCaller() caller: Caller,
    @RequestBody(UsernameChangeBody) _body: UsernameChangeBody,
    @Req() request: object,
  ): Promise<{ status: string }> {
    await this.username.change(caller, request);
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
  protected override readonly feature = 'usernameChange';

  /**
   * As `POST /username`: replaces the identifier of the caller.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, IdentifierTaken, ValidationFailed, InsufficientScope, TooManyRequests,
   * StoreUnavailable; AuthConfigError where the identifier is the email
   */
  async change(username: string, source: CallSource): Promise<void> {
    const changes = this.get(UsernameChange);
    const change = async (caller: Caller, request: ServerRequest): Promise<void> => {
      this.read(UsernameChangeBody, request);
      return changes.change(caller, request);
    };
    const body = { [this.scope.realm.options.username]: username };
    return this.callAs(UsernameController, 'change', source, change, body);
  }
}
