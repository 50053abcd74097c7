import { Controller, HttpCode, Post } from '@nestjs/common';
import { Authenticated, CurrentUser } from '../http/authenticated.decorator';
import { NoStore } from '../http/no-store.decorator';
import { Throttled } from '../throttling/throttled.decorator';
import { VerificationNotices } from './verification-notices';

@Controller('email/verification-notification')
export class VerificationNotificationController {
  constructor(private readonly notices: VerificationNotices) {}

  /** Mails another link to the caller. */
  @Post()
  @HttpCode(202)
  @NoStore()
  @Authenticated()
  @Throttled('svc-email-verification')
  resend(@CurrentUser() user: object): { status: string } {
    this.notices.send(user);
    return { status: 'verification-link-sent' };
  }
}
