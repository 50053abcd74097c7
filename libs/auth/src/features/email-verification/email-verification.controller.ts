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
 * Whether a client prefers JSON to an HTML page. The type with the highest quality value decides, the first one if
 * several are equal. A client without an `Accept` header is treated as a browser.
 */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = (accept ?? '*/*').split(',').map((range) => {
    const [type = '', ...params] = range.split(';').map((part) => part.trim().toLowerCase());
    const q = params.find((param) => param.startsWith('q='));
    return { type, q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  });
  const best = ranges.reduce((preferred, range) => (range.q > preferred.q ? range : preferred));
  return /^application\/([\w.-]+\+)?json$/.test(best.type);
}

/** Answers a request with a valid link: redirects browsers to the configured page, and answers other clients 204. */
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

  /**
   * Answers HEAD without verifying the email: HEAD is a safe method (RFC 9110 §9.2.1). Declared before `open`, because
   * Express would route HEAD requests to the GET handler.
   */
  @Head(':id/:hash')
  @HttpCode(204)
  @NoStore()
  @Public()
  @Throttled('svc-email-verification')
  probe(): void {}

  /** Verifies the email address of a link that was opened from a mail. */
  @Get(':id/:hash')
  @NoStore()
  // The link is secret until it expires, so it must not reach the target page as a referrer.
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

  /** Mails a new link to the caller. */
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
