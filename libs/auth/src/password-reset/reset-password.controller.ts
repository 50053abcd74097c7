import { Controller, HttpCode, Post } from '@nestjs/common';
import { Public } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import { NoStore } from '../http/no-store.decorator';
import { Throttled } from '../throttling/throttled.decorator';
import { PasswordResetting } from './password-resetting';
import { ResetPasswordRequest } from './reset-password.request';

@Controller('reset-password')
export class ResetPasswordController {
  constructor(private readonly resetting: PasswordResetting) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-password-reset')
  async reset(@RequestBody(ResetPasswordRequest) wanted: ResetPasswordRequest): Promise<{ status: string }> {
    await this.resetting.reset(wanted);
    return { status: 'password-reset' };
  }
}
