import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Controller, HttpCode, Injectable, Post, Req } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { Authenticated, CurrentCaller, Public } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { EmailChangeBody, EmailChangeConfirmation, EmailChangeLink, EmailChangeRequests } from './email-change';
import { EmailChangeUndo } from './email-change-undo';

/** The links open pages of the host, which post the token. So a program that opens links in mails changes nothing. */
@Controller('email/change')
export class EmailChangeController {
  constructor(
    private readonly requests: EmailChangeRequests,
    private readonly confirmation: EmailChangeConfirmation,
    private readonly undoing: EmailChangeUndo,
  ) {}

  @Post()
  @HttpCode(202)
  @NoStore()
  @Authenticated()
  @RequireIfPinned('svc.account')
  @Throttled('svc-email-change')
  @RequireConfirmation()
  async request(
    @CurrentCaller() caller: Caller,
    @RequestBody(EmailChangeBody) { email }: EmailChangeBody,
  ): Promise<{ status: string }> {
    await this.requests.request(caller, email);
    return { status: 'email-change-requested' };
  }

  @Post('confirm')
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-email-verification')
  async confirm(
    @RequestBody(EmailChangeLink) { token }: EmailChangeLink,
    @Req() request: object,
  ): Promise<{ status: string }> {
    await this.confirmation.confirm(token, request);
    return { status: 'email-changed' };
  }

  @Post('undo')
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-email-verification')
  async undo(@RequestBody(EmailChangeLink) { token }: EmailChangeLink): Promise<{ status: string }> {
    await this.undoing.undo(token);
    return { status: 'email-change-undone' };
  }
}

/**
 * Change of the email by its user, for code of the host. Needs `features.emailChange`.
 *
 * @publicApi
 */
@Injectable()
export class EmailChangeFlow extends Flow {
  protected override readonly feature = 'emailChange';

  /**
   * As `POST /email/change`: mails a link to the new address. The result does not show whether the address has an account.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, ValidationFailed, InsufficientScope, TooManyRequests, StoreUnavailable;
   * AuthConfigError without `confirmUrl`, `undoUrl` or mailer
   */
  async request(email: string, source: CallSource): Promise<void> {
    const requests = this.get(EmailChangeRequests);
    const request = async (caller: Caller, given: ServerRequest): Promise<void> =>
      requests.request(caller, this.read(EmailChangeBody, given).email);
    return this.callAs(EmailChangeController, 'request', source, request, { email });
  }

  /** As `POST /email/change/confirm`. @throws EmailChangeFailed, ValidationFailed, TooManyRequests, StoreUnavailable */
  async confirm(token: string, source: CallSource): Promise<void> {
    const confirmation = this.get(EmailChangeConfirmation);
    const confirm = async (given: ServerRequest): Promise<void> =>
      confirmation.confirm(this.read(EmailChangeLink, given).token, given);
    return this.call(EmailChangeController, 'confirm', source, confirm, { token });
  }

  /**
   * As `POST /email/change/undo`.
   *
   * @throws EmailChangeFailed, FormerEmailTaken, ValidationFailed, TooManyRequests, HasherBusy, StoreUnavailable
   */
  async undo(token: string, source: CallSource): Promise<void> {
    const undoing = this.get(EmailChangeUndo);
    const undo = async (given: ServerRequest): Promise<void> => undoing.undo(this.read(EmailChangeLink, given).token);
    return this.call(EmailChangeController, 'undo', source, undo, { token });
  }
}
