import { Controller, HttpCode, Post } from '@nestjs/common';
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
