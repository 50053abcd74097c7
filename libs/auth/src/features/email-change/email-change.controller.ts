import { Controller, Req } from '@nestjs/common';
import { http, identity } from '../../kit';
import {
  EmailChangeBody,
  EmailChangeConfirmation,
  EmailChangeFailed,
  EmailChangeLink,
  EmailChangeRequests,
  NewEmailTaken,
} from './email-change';
import { EmailChangeUndo, FormerEmailTaken } from './email-change-undo';

/** The links open pages of the host, which post the token. So a program that opens links in mails changes nothing. */
@Controller('email/change')
export class EmailChangeController {
  constructor(
    private readonly requests: EmailChangeRequests,
    private readonly confirmation: EmailChangeConfirmation,
    private readonly undoing: EmailChangeUndo,
  ) {}

  @http.Route('POST', '', 'email_change_request', {
    summary: 'Mails a link that changes the email to a new address',
    note: 'Gives the same answer for a free, a taken and the own address.',
    gates: [http.RequireIfPinned('svc.account'), http.RequireConfirmation()],
    limiter: 'svc-email-change',
    status: 202,
    done: 'email-change-requested',
    refusals: [http.signInRefusal],
  })
  request(
    @http.CurrentCaller() caller: identity.Caller,
    @http.RequestBody() { email }: EmailChangeBody,
  ): Promise<void> {
    return this.requests.request(caller, email);
  }

  @http.Route('POST', 'confirm', 'email_change_confirm', {
    summary: 'Changes the email with the token that was mailed to the new address',
    note: 'Ends all other sessions. Every link that is not accepted gets the same text.',
    public: true,
    limiter: 'svc-mailed-links',
    done: 'email-changed',
    refusals: [EmailChangeFailed, NewEmailTaken],
    quiet: true,
  })
  confirm(@http.RequestBody() { token }: EmailChangeLink, @Req() request: object): Promise<void> {
    return this.confirmation.confirm(token, request);
  }

  @http.Route('POST', 'undo', 'email_change_undo', {
    summary: 'Restores the former email with the token that was mailed to it',
    note: 'Ends all sessions of the user, replaces the password, and mails a reset link.',
    public: true,
    limiter: 'svc-mailed-links',
    done: 'email-change-undone',
    refusals: [EmailChangeFailed, FormerEmailTaken, identity.HasherBusy],
    quiet: true,
  })
  undo(@http.RequestBody() { token }: EmailChangeLink): Promise<void> {
    return this.undoing.undo(token);
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Change of the email of a caller. */
    readonly emailChange: EmailChangeFlow;
  }
}

/**
 * Change of the email by its user, for code of the host. Needs `features.emailChange`.
 *
 * @publicApi
 */
export class EmailChangeFlow extends http.Flow {
  /**
   * As `POST /email/change`: mails a link to the new address. The result does not show whether the address has an account.
   *
   * @throws Unauthenticated, SignInRefused, ConfirmationRequired, ValidationFailed, InsufficientScope, TooManyRequests, StoreUnavailable;
   * AuthConfigError without `confirmUrl`, `undoUrl` or mailer
   */
  request(email: string, source: http.CallSource): Promise<void> {
    return this.call(EmailChangeController, 'request', source, { email });
  }

  /** As `POST /email/change/confirm`. @throws EmailChangeFailed, NewEmailTaken, ValidationFailed, TooManyRequests, StoreUnavailable */
  confirm(token: string, source: http.CallSource): Promise<void> {
    return this.call(EmailChangeController, 'confirm', source, { token });
  }

  /**
   * As `POST /email/change/undo`.
   *
   * @throws EmailChangeFailed, FormerEmailTaken, ValidationFailed, TooManyRequests, HasherBusy, StoreUnavailable
   */
  undo(token: string, source: http.CallSource): Promise<void> {
    return this.call(EmailChangeController, 'undo', source, { token });
  }
}
