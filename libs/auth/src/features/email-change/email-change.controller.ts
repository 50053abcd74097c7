import { Controller, Injectable, Req } from '@nestjs/common';
import { HasherBusy } from '../../identity/password/hash-queue';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, signInRefusal, status } from '../../request/routes/route';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { RequireConfirmation } from '../step-up/require-confirmation';
import {
  EmailChangeBody,
  EmailChangeConfirmation,
  EmailChangeFailed,
  EmailChangeLink,
  EmailChangeRequests,
} from './email-change';
import { EmailChangeUndo, FormerEmailTaken } from './email-change-undo';

declare module '../../foundation/platform/catalogue' {
  interface Operations {
    email_change_request: true;
    email_change_confirm: true;
    email_change_undo: true;
  }
}

/** The links open pages of the host, which post the token. So a program that opens links in mails changes nothing. */
@Controller('email/change')
export class EmailChangeController {
  constructor(
    private readonly requests: EmailChangeRequests,
    private readonly confirmation: EmailChangeConfirmation,
    private readonly undoing: EmailChangeUndo,
  ) {}

  @Route('POST', '', {
    operation: 'email_change_request',
    summary: 'Mails a link that changes the email to a new address',
    note: 'Gives the same answer for a free, a taken and the own address.',
    gates: [RequireIfPinned('svc.account'), RequireConfirmation()],
    limiter: 'svc-email-change',
    status: 202,
    answer: status('email-change-requested'),
    refusals: signInRefusal,
  })
  async request(
    @CurrentCaller() caller: Caller,
    @RequestBody(EmailChangeBody) { email }: EmailChangeBody,
  ): Promise<{ status: string }> {
    await this.requests.request(caller, email);
    return { status: 'email-change-requested' };
  }

  @Route('POST', 'confirm', {
    operation: 'email_change_confirm',
    summary: 'Changes the email with the token that was mailed to the new address',
    note: 'Ends all other sessions. Every link that is not accepted gets the same text.',
    public: true,
    limiter: 'svc-mailed-links',
    answer: status('email-changed'),
    refusals: () => [new EmailChangeFailed()],
    quiet: true,
  })
  async confirm(
    @RequestBody(EmailChangeLink) { token }: EmailChangeLink,
    @Req() request: object,
  ): Promise<{ status: string }> {
    await this.confirmation.confirm(token, request);
    return { status: 'email-changed' };
  }

  @Route('POST', 'undo', {
    operation: 'email_change_undo',
    summary: 'Restores the former email with the token that was mailed to it',
    note: 'Ends all sessions of the user, replaces the password, and mails a reset link.',
    public: true,
    limiter: 'svc-mailed-links',
    answer: status('email-change-undone'),
    refusals: () => [new EmailChangeFailed(), new FormerEmailTaken(), new HasherBusy()],
    quiet: true,
  })
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
  /**
   * As `POST /email/change`: mails a link to the new address. The result does not show whether the address has an account.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, ValidationFailed, InsufficientScope, TooManyRequests, StoreUnavailable;
   * AuthConfigError without `confirmUrl`, `undoUrl` or mailer
   */
  async request(email: string, source: CallSource): Promise<void> {
    await this.call(EmailChangeController, 'request', source, { input: { email } });
  }

  /** As `POST /email/change/confirm`. @throws EmailChangeFailed, ValidationFailed, TooManyRequests, StoreUnavailable */
  async confirm(token: string, source: CallSource): Promise<void> {
    await this.call(EmailChangeController, 'confirm', source, { input: { token } });
  }

  /**
   * As `POST /email/change/undo`.
   *
   * @throws EmailChangeFailed, FormerEmailTaken, ValidationFailed, TooManyRequests, HasherBusy, StoreUnavailable
   */
  async undo(token: string, source: CallSource): Promise<void> {
    await this.call(EmailChangeController, 'undo', source, { input: { token } });
  }
}
