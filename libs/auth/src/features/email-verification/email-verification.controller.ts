import { Controller, Get, Head, Header, Headers, HttpCode, Injectable, Param, Post, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { withQuery } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { Authenticated, CurrentUser, Public } from '../../request/gates/authenticated';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { EmailVerification } from './email-verification';
import { VerificationMails } from './verification-mails';

/**
 * Whether a client would rather have JSON than a page: the type it likes best decides, the first of equals. A
 * browser names text/html; what names nothing is taken for one.
 */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = (accept ?? '*/*').split(',').map((range) => {
    const [type = '', ...params] = range.split(';').map((part) => part.trim().toLowerCase());
    const q = params.find((param) => param.startsWith('q='));
    return { type, q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  });
  const best = ranges.reduce((liked, range) => (range.q > liked.q ? range : liked));
  return /^application\/([\w.-]+\+)?json$/.test(best.type);
}

/** What follows a link that was opened: for browsers the configured page and no other, for everybody else nothing. */
@Injectable()
export class VerifiedAnswer {
  constructor(
    private readonly realm: Realm,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  write(accept: string | undefined, response: unknown): void {
    const [{ httpAdapter }, { frontendUrl }] = [this.adapterHost, this.realm.options.emailVerification];
    if (frontendUrl === undefined || prefersJson(accept)) httpAdapter.reply(response, undefined, 204);
    else httpAdapter.redirect(response, 302, withQuery(frontendUrl, { verified: '1' }));
  }
}

@Controller('email/verify')
export class VerifyEmailController {
  constructor(
    private readonly emailVerification: EmailVerification,
    private readonly answer: VerifiedAnswer,
  ) {}

  /** Before the other, which Express would give it to: what asks for headers alone proves nothing (RFC 9110 §9.2.1). */
  @Head(':id/:hash')
  @HttpCode(204)
  @NoStore()
  @Public()
  @Throttled('svc-email-verification')
  probe(): void {}

  /** Opened from a mail: a browser is sent on to a page. */
  @Get(':id/:hash')
  @NoStore()
  // The link is a secret as long as it lives; the page it leads to need not learn it.
  @Header('Referrer-Policy', 'no-referrer')
  @Public()
  @Throttled('svc-email-verification')
  async open(
    @Param('id') id: string,
    @Param('hash') hash: string,
    @Req() { originalUrl }: { originalUrl: string },
    @Headers('accept') accept: string | undefined,
    @Res() response: object,
  ): Promise<void> {
    await this.emailVerification.verify({ id, hash, query: originalUrl.split('?').slice(1).join('?') });
    this.answer.write(accept, response);
  }
}

@Controller('email/verification-notification')
export class VerificationNotificationController {
  constructor(private readonly verificationMails: VerificationMails) {}

  /** Mails another link to the caller. */
  @Post()
  @HttpCode(202)
  @NoStore()
  @Authenticated()
  @Throttled('svc-email-verification')
  resend(@CurrentUser() user: object): { status: string } {
    this.verificationMails.send(user);
    return { status: 'verification-link-sent' };
  }
}
