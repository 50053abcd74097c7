import { Controller, Injectable } from '@nestjs/common';
import { HasherBusy } from '../../identity/password/hash-queue';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, status } from '../../request/routes/route';
import { ForgotPasswordRequest, PasswordResets, ResetFailed, ResetLinks, ResetPasswordRequest } from './password-reset';

declare module '../../foundation/platform/catalogue' {
  interface Operations {
    password_forgot: true;
    password_reset: true;
  }
}

@Controller('forgot-password')
export class ForgotPasswordController {
  constructor(private readonly resetLinks: ResetLinks) {}

  @Route('POST', '', {
    operation: 'password_forgot',
    summary: 'Mails a link to reset the password',
    note: 'Gives the same answer whether the account exists or not.',
    public: true,
    limiter: 'svc-password-reset',
    answer: status('password-reset-link-sent'),
    refusals: () => [new HasherBusy()],
  })
  async request(@RequestBody(ForgotPasswordRequest) { email }: ForgotPasswordRequest): Promise<{ status: string }> {
    await this.resetLinks.request(email);
    return { status: 'password-reset-link-sent' };
  }
}

@Controller('reset-password')
export class ResetPasswordController {
  constructor(private readonly passwordResets: PasswordResets) {}

  @Route('POST', '', {
    operation: 'password_reset',
    summary: 'Sets a new password with a mailed token',
    note: 'Ends all sessions of the user (`passwordReset.revokeSessions`). Every link that is not accepted gets the same text.',
    public: true,
    limiter: 'svc-password-reset',
    answer: status('password-reset'),
    refusals: () => [new ResetFailed(), new HasherBusy()],
  })
  async reset(@RequestBody(ResetPasswordRequest) body: ResetPasswordRequest): Promise<{ status: string }> {
    await this.passwordResets.reset(body);
    return { status: 'password-reset' };
  }
}

/** The input of {@link PasswordResetFlow.reset}: `token` and `email` are the parameters of the mailed link. */
export interface ResetInput {
  token: string;
  email: string;
  password: string;
}

/**
 * Reset of a forgotten password, for code of the host. Needs `features.passwordReset`.
 *
 * @publicApi
 */
@Injectable()
export class PasswordResetFlow extends Flow {
  /**
   * As `POST /forgot-password`: mails a link if the address has an account. The result does not show whether it has.
   *
   * @throws ValidationFailed, TooManyRequests, StoreUnavailable; AuthConfigError without `frontendUrl` or mailer
   */
  async request(email: string, source: CallSource): Promise<void> {
    await this.call(ForgotPasswordController, 'request', source, { input: { email } });
  }

  /** As `POST /reset-password`. @throws ResetFailed, ValidationFailed, TooManyRequests, HasherBusy, StoreUnavailable */
  async reset(input: ResetInput, source: CallSource): Promise<void> {
    const body = { ...input, passwordConfirmation: input?.password };
    await this.call(ResetPasswordController, 'reset', source, { input: body });
  }
}
