import { Controller, HttpCode, Post } from '@nestjs/common';
import { Public } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import { NoStore } from '../http/no-store.decorator';
import { Throttled } from '../throttling/throttled.decorator';
import { ForgotPasswordRequest } from './forgot-password.request';
import { ForgottenPassword } from './forgotten-password';

@Controller('forgot-password')
export class ForgotPasswordController {
  constructor(private readonly forgotten: ForgottenPassword) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-password-reset')
  async request(@RequestBody(ForgotPasswordRequest) { email }: ForgotPasswordRequest): Promise<{ status: string }> {
    await this.forgotten.request(email);
    return { status: 'password-reset-link-sent' };
  }
}
