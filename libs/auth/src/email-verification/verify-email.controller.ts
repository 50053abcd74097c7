import { Controller, Get, Head, Header, Headers, HttpCode, Param, Req, Res } from '@nestjs/common';
import { Public } from '../http/authenticated.decorator';
import { NoStore } from '../http/no-store.decorator';
import { Throttled } from '../throttling/throttled.decorator';
import { EmailProof } from './email-proof';
import { VerifiedAnswer } from './verified-answer';

@Controller('email/verify')
export class VerifyEmailController {
  constructor(
    private readonly proof: EmailProof,
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
    await this.proof.accept({ id, hash, query: originalUrl.split('?').slice(1).join('?') });
    this.answer.write(accept, response);
  }
}
