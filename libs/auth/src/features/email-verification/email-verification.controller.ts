import { Catch, Controller, Headers, Injectable, Param, Req, Res, UseFilters } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Realm, http, type identity, input, mailing, schema, session } from '../../kit';
import { EmailVerification, InvalidLink, OutdatedLink, VerificationMails } from './email-verification';
import { readLink, VerificationLinks } from './verification-links';

/**
 * Whether a client prefers JSON to an HTML page. The type with the highest quality value decides, the first one if
 * several are equal. A client without an `Accept` header is treated as a browser.
 */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = (accept ?? '*/*').split(',').map((range) => {
    const [type = '', ...params] = range.split(';').map((part) => http.fieldText(part).toLowerCase());
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
    private readonly presentation: http.Presentation,
  ) {}

  /** @param link the page gets it if no person has proved the address, to send it again with a session of the user */
  async write(
    accept: string | undefined,
    userId: string,
    link: string | null,
    request: object,
    response: unknown,
  ): Promise<void> {
    const [{ httpAdapter }, { frontendUrl }] = [this.adapterHost, this.realm.options.emailVerification];
    const body = await this.presentation.ofDone(request, userId, (presenter, about) => presenter.verification(about));
    if (body !== undefined) httpAdapter.reply(response, body, 200);
    else if (frontendUrl === undefined || prefersJson(accept)) httpAdapter.reply(response, undefined, 204);
    else httpAdapter.redirect(response, 302, pageOf(frontendUrl, link));
  }
}

/** The link is in the fragment, which browsers send to no server: with a session of the user, it proves a person. */
function pageOf(frontendUrl: string, link: string | null): string {
  const verified = mailing.withQuery(frontendUrl, { verified: '1' });
  if (link === null) return verified;
  // The fragment of a page with a hash router contains its path and parameters.
  return frontendUrl.includes('#')
    ? mailing.withQuery(verified, { link })
    : `${verified}#link=${encodeURIComponent(link)}`;
}

/**
 * Leads a browser with a refused link to the configured page, with the reason in the query: a person cannot read JSON. Other
 * clients get the error, as on every route.
 */
@Catch()
@Injectable()
export class RefusedLinkFilter extends http.AuthExceptionFilter {
  protected override write(error: unknown, request: { headers: { accept?: string } }, response: unknown): void {
    const { frontendUrl } = this.realm.options.emailVerification;
    if (frontendUrl === undefined || http.isForeign(error) || prefersJson(request.headers.accept))
      return super.write(error, request, response);
    const refusal = http.refusalOf(error);
    const isOfLink = refusal instanceof InvalidLink || refusal instanceof OutdatedLink;
    if (refusal.getStatus() === 500) return super.write(error, request, response);
    for (const [name, value] of Object.entries(refusal.headers))
      this.adapterHost.httpAdapter.setHeader(response, name, value);
    // Of another refusal, such as that of the limiter, the person cannot use the reason: the link can be opened again later.
    const verification = isOfLink ? refusal.verification : 'unavailable';
    this.adapterHost.httpAdapter.redirect(response, 302, mailing.withQuery(frontendUrl, { verification }));
  }
}

const OF_LINK = schema.of(schema.TEXT, 'As the mailed link has it.');
const LINK = { id: OF_LINK, hash: OF_LINK, expires: OF_LINK, signature: OF_LINK };

@Controller('email')
export class VerifyEmailController {
  constructor(
    private readonly emailVerification: EmailVerification,
    private readonly links: VerificationLinks,
    private readonly mails: VerificationMails,
    private readonly requestSessions: session.RequestSessions,
    private readonly answer: VerifiedAnswer,
  ) {}

  /**
   * Answers HEAD without verifying the email: HEAD is a safe method (RFC 9110 §9.2.1). Declared before `open`, because
   * Express would route HEAD requests to the GET handler.
   */
  @http.Route('HEAD', 'verify/:id/:hash', 'email_verify_probe', {
    summary: 'Looks at a verification link without opening it',
    note: 'Changes nothing, for any link: it answers programs that check the links in mails.',
    parameters: LINK,
    public: true,
    limiter: 'svc-email-verification',
    quiet: true,
  })
  probe(): void {}

  /** Verifies the email address of a link that was opened from a mail. */
  @http.Route('GET', 'verify/:id/:hash', 'email_verify', {
    summary: 'Opens a mailed verification link',
    note:
      'Answers browsers 302 to the configured page (`emailVerification.frontendUrl`), also for a refused link, and JSON clients ' +
      '204, or the error.',
    parameters: LINK,
    public: true,
    limiter: 'svc-email-verification',
    // The link is secret until it expires, so it must not reach the target page as a referrer.
    headers: { 'Referrer-Policy': 'no-referrer' },
    answers: ({ emailVerification }) => ({
      204: null,
      ...(emailVerification.frontendUrl !== undefined && { 302: null }),
    }),
    refusals: [InvalidLink, OutdatedLink],
    quiet: true,
  })
  @UseFilters(RefusedLinkFilter)
  async open(
    @Param('id') id: string,
    @Param('hash') hash: string,
    @Req() request: OpenedRequest,
    @Headers('accept') accept: string | undefined,
    @Res() response: object,
  ): Promise<void> {
    const link = readLink(id, hash, queryOf(request));
    const isProved = await this.emailVerification.verify(link, () => this.requestSessions.ownerOf(request));
    await this.answer.write(accept, id, isProved ? null : this.links.urlOf(link), request, response);
  }

  /** Verifies the email address with a session: for the page that a browser is led to. */
  @http.Route('POST', 'verify/:id/:hash', 'email_prove', {
    summary: 'Verifies the email of the caller with a mailed verification link',
    note: 'Proves that the user reads the mails: see `email-verification.md`.',
    parameters: LINK,
    gates: [http.RequireIfPinned('svc.account')],
    limiter: 'svc-email-verification',
    refusals: [InvalidLink, OutdatedLink],
  })
  confirm(
    @Param('id') id: string,
    @Param('hash') hash: string,
    @Req() request: OpenedRequest,
    @http.CurrentCaller() caller: identity.Caller,
  ): Promise<void> {
    return this.emailVerification.verifyAs(caller, readLink(id, hash, queryOf(request)));
  }

  /** Mails a new link to the caller. */
  @http.Route('POST', 'verification-notification', 'email_verification_send', {
    summary: 'Mails another verification link',
    limiter: 'svc-email-verification',
    status: 202,
    done: 'verification-link-sent',
  })
  resend(@http.CurrentUser() user: object): void {
    this.mails.send(user);
  }
}

/** Body of `POST /email/verification-request`. */
export class VerificationMailRequest {
  @input.RequiredEmail()
  email!: string;
}

/** For users who cannot sign in before their address is verified: they have no session (`features.verificationByAddress`). */
@Controller('email')
export class VerificationMailController {
  constructor(private readonly mails: VerificationMails) {}

  @http.Route('POST', 'verification-request', 'email_verification_request', {
    summary: 'Mails another verification link to an address',
    note: 'Gives the same answer for an address without an account and for a verified one.',
    public: true,
    limiter: 'svc-email-verification',
    status: 202,
    done: 'verification-link-sent',
  })
  request(@http.RequestBody() { email }: VerificationMailRequest): Promise<void> {
    return this.mails.request(email);
  }
}

type OpenedRequest = identity.Credentialed & { originalUrl: string };

const queryOf = ({ originalUrl }: OpenedRequest): string => originalUrl.split('?').slice(1).join('?');

/** The parts of a mailed link: `{apiUrl}/{path}/email/verify/{id}/{hash}?expires=…&signature=…`. */
export interface VerificationLink {
  id: string;
  hash: string;
  expires: string;
  signature: string;
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Verification of an email address. */
    readonly emailVerification: EmailVerificationFlow;
  }
}

/**
 * Verification of email addresses, for code of the host. Needs `features.emailVerification`.
 *
 * @publicApi
 */
export class EmailVerificationFlow extends http.Flow {
  /**
   * As `POST /email/verification-notification`: mails a link to the caller, unless the email is verified.
   *
   * @throws Unauthenticated, TooManyRequests, StoreUnavailable; AuthConfigError without `apiUrl`, `encryption.key` or mailer
   */
  send(source: http.CallSource): Promise<void> {
    return this.call(VerifyEmailController, 'resend', source);
  }

  /**
   * As `POST /email/verification-request`: mails a link to the address, if it has an account that is not verified. The result does
   * not show whether it has. Needs `features.verificationByAddress`.
   *
   * @throws ValidationFailed, TooManyRequests, StoreUnavailable
   */
  sendTo(email: string, source: http.CallSource): Promise<void> {
    return this.call(VerificationMailController, 'request', source, { email });
  }

  /**
   * As `GET /email/verify/:id/:hash`. With a session of the user, a person has proved the address.
   *
   * @throws InvalidLink, OutdatedLink, TooManyRequests, StoreUnavailable
   */
  async verify(parts: VerificationLink, source: http.CallSource): Promise<void> {
    const { id, hash, expires, signature } = parts ?? {};
    const [ofId, ofHash, until, mac] = [id, hash, expires, signature].map((part) =>
      typeof part === 'string' ? part : '',
    );
    const link = readLink(ofId!, ofHash!, `expires=${until}&signature=${mac}`);
    // The handler reads the link from the URL, and writes the response itself.
    await this.run(VerifyEmailController, 'open', source, (request) =>
      this.get(EmailVerification).verify(link, () => this.get(session.RequestSessions).ownerOf(request)),
    );
  }
}
