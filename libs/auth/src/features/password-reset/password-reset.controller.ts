import { Controller } from '@nestjs/common';
import { http, identity } from '../../kit';
import { ForgotPasswordRequest, PasswordResets, ResetFailed, ResetLinks, ResetPasswordRequest } from './password-reset';

@Controller()
export class PasswordResetController {
  constructor(
    private readonly links: ResetLinks,
    private readonly resets: PasswordResets,
  ) {}

  @http.Route('POST', 'forgot-password', 'password_forgot', {
    summary: 'Mails a link to reset the password',
    note: 'Gives the same answer whether the account exists or not.',
    public: true,
    limiter: 'svc-password-reset',
    done: 'password-reset-link-sent',
    refusals: [identity.HasherBusy],
  })
  request(@http.RequestBody() { email }: ForgotPasswordRequest): Promise<void> {
    return this.links.request(email);
  }

  @http.Route('POST', 'reset-password', 'password_reset', {
    summary: 'Sets a new password with a mailed token',
    note: 'Ends all sessions of the user (`passwordReset.revokeSessions`). Every link that is not accepted gets the same text.',
    public: true,
    limiter: 'svc-password-reset',
    done: 'password-reset',
    refusals: [ResetFailed, identity.HasherBusy],
  })
  reset(@http.RequestBody() body: ResetPasswordRequest): Promise<void> {
    return this.resets.reset(body);
  }
}

/** The input of {@link PasswordResetFlow.reset}: `token` and `email` are the parameters of the mailed link. */
export interface ResetInput {
  token: string;
  email: string;
  password: string;
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Reset of a forgotten password. */
    readonly passwordReset: PasswordResetFlow;
  }
}

/**
 * Reset of a forgotten password, for code of the host. Needs `features.passwordReset`.
 *
 * @publicApi
 */
export class PasswordResetFlow extends http.Flow {
  /**
   * As `POST /forgot-password`: mails a link if the address has an account. The result does not show whether it has.
   *
   * @throws ValidationFailed, TooManyRequests, StoreUnavailable; AuthConfigError without `frontendUrl` or mailer
   */
  request(email: string, source: http.CallSource): Promise<void> {
    return this.call(PasswordResetController, 'request', source, { email });
  }

  /** As `POST /reset-password`. @throws ResetFailed, ValidationFailed, TooManyRequests, HasherBusy, StoreUnavailable */
  reset(input: ResetInput, source: http.CallSource): Promise<void> {
    const values = { ...input, passwordConfirmation: input?.password };
    return this.call(PasswordResetController, 'reset', source, values);
  }
}
