import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Controller, HttpCode, Injectable, Post } from '@nestjs/common';
import { Public } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { ForgotPasswordRequest, ResetLinks, PasswordResets, ResetPasswordRequest } from './password-reset';

@Controller('forgot-password')
export class ForgotPasswordController {
  constructor(private readonly resetLinks: ResetLinks) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-password-reset')
  async request(@RequestBody(ForgotPasswordRequest) { email }: ForgotPasswordRequest): Promise<{ status: string }> {
    await this.resetLinks.request(email);
    return { status: 'password-reset-link-sent' };
  }
}

@Controller('reset-password')
export class ResetPasswordController {
  constructor(private readonly passwordResets: PasswordResets) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-password-reset')
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
  protected override readonly feature = 'passwordReset';

  /**
   * As `POST /forgot-password`: mails a link if the address has an account. The result does not show whether it has.
   *
   * @throws ValidationFailed, TooManyRequests, StoreUnavailable; AuthConfigError without `frontendUrl` or mailer
   */
  async request(email: string, source: CallSource): Promise<void> {
    const links = this.get(ResetLinks);
    const mail = async (request: ServerRequest): Promise<void> =>
      links.request(this.read(ForgotPasswordRequest, request).email);
    return this.call(ForgotPasswordController, 'request', source, mail, { email });
  }

  /** As `POST /reset-password`. @throws ResetFailed, ValidationFailed, TooManyRequests, HasherBusy, StoreUnavailable */
  async reset(input: ResetInput, source: CallSource): Promise<void> {
    const { token, email, password } = input ?? {};
    const resets = this.get(PasswordResets);
    const body = { token, email, password, password_confirmation: password };
    const reset = async (request: ServerRequest): Promise<void> =>
      resets.reset(this.read(ResetPasswordRequest, request));
    return this.call(ResetPasswordController, 'reset', source, reset, body);
  }
}
