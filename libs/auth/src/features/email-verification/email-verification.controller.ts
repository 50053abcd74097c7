import { Presentation } from '../../request/http/presentation';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Controller, Get, Head, Header, Headers, HttpCode, Injectable, Param, Post, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { fieldText } from '../../foundation/platform/field-text';
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
    const [type = '', ...params] = range.split(';').map((part) => fieldText(part).toLowerCase());
    const q = params.find((param) => param.startsWith('q='));
    return { type, q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  });
  const best = ranges.reduce((preferred, range) => (range.q > preferred.q ? range : preferred));
  return /^application\/([\w.-]+\+)?json$/.test(best.type);
}

/** Answers a request with a valid link: redirects browsers to the configured page, and answers other clients 204. A presenter of the host can answer instead. */
@Injectable()
export class VerifiedAnswer {
  constructor(
    private readonly realm: Realm,
    private readonly adapterHost: HttpAdapterHost,
    private readonly presentation: Presentation,
  ) {}

  async write(accept: string | undefined, userId: string, request: object, response: unknown): Promise<void> {
    const [{ httpAdapter }, { frontendUrl }] = [this.adapterHost, this.realm.options.emailVerification];
    const body = await this.presentation.ofVerification(request, userId);
    if (body !== undefined) httpAdapter.reply(response, body, 200);
    else if (frontendUrl === undefined || prefersJson(accept)) httpAdapter.reply(response, undefined, 204);
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
    @Req() request: { originalUrl: string },
    @Headers('accept') accept: string | undefined,
    @Res() response: object,
  ): Promise<void> {
    await this.emailVerification.verify({ id, hash, query: request.originalUrl.split('?').slice(1).join('?') });
    await this.answer.write(accept, id, request, response);
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

/** The parts of a mailed link: `{apiUrl}/{path}/email/verify/{id}/{hash}?expires=…&signature=…`. */
export interface VerificationLink {
  id: string;
  hash: string;
  expires: string;
  signature: string;
}

/**
 * Verification of email addresses, for code of the host. Needs `features.emailVerification`.
 *
 * @publicApi
 */
@Injectable()
export class EmailVerificationFlow extends Flow {
  protected override readonly feature = 'emailVerification';

  /**
   * As `POST /email/verification-notification`: mails a link to the caller, unless the email is verified.
   *
   * @throws Unauthenticated, TooManyRequests, StoreUnavailable; AuthConfigError without `apiUrl`, `encryption.key` or mailer
   */
  async send(source: CallSource): Promise<void> {
    // Without the feature, this class sends no mails instead of being absent.
    this.get(EmailVerification);
    const mails = this.get(VerificationMails);
    return this.callAs(VerificationNotificationController, 'resend', source, async ({ user }) => mails.send(user));
  }

  /** As `GET /email/verify/:id/:hash`. @throws InvalidLink, OutdatedLink, TooManyRequests, StoreUnavailable */
  async verify(parts: VerificationLink, source: CallSource): Promise<void> {
    const { id, hash, expires, signature } = parts ?? {};
    const verification = this.get(EmailVerification);
    const [ofId, ofHash, until, mac] = [id, hash, expires, signature].map((part) =>
      typeof part === 'string' ? part : '',
    );
    const link = { id: ofId!, hash: ofHash!, query: `expires=${until}&signature=${mac}` };
    return this.call(VerifyEmailController, 'open', source, () => verification.verify(link));
  }
}
