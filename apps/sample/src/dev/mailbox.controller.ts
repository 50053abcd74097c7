import { Controller, Get, Header, NotFoundException, Param, ParseIntPipe, Query, UseGuards } from '@nestjs/common';
import { Auth, type MailPreview } from '@svc/auth';
import { LANGUAGES } from '@svc/auth/languages';
import { OwnHost } from '../web/own-host.guard';
import { MailHeaders, PageHeaders } from '../web/page-headers';
import { html, inMode, mailCard, page } from './mailbox-page';
import { Mailbox } from './mailbox';

/** In the time zone of the developer, whose server this is. */
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });

/** Links to the examples in every language. */
const EXAMPLES = html`<p class="row">
  Every mail of the library as an example:
  ${LANGUAGES.map(
    (language) => html` <a href="/mailbox/examples/${language}" hreflang="${language}">${NAMES.of(language)}</a>`,
  )}
</p>`;

/**
 * Shows the mails of the mailbox, and an example of each mail of the library. The mails contain links into accounts of other
 * users, so it is mounted in development only.
 */
@Controller('mailbox')
@UseGuards(OwnHost)
export class MailboxController {
  constructor(
    private readonly mailbox: Mailbox,
    private readonly auth: Auth,
  ) {}

  @Get()
  @PageHeaders()
  show(): string {
    const mails = this.mailbox.mails.map((mail) =>
      mailCard(mail, `/mailbox/mails/${mail.number}`, `to ${mail.to} · ${TIME.format(mail.at)}`),
    );
    return page('Mailbox', [EXAMPLES, mails.length ? mails : html`<p class="muted">No mail yet.</p>`]);
  }

  @Get('mails')
  @Header('Cache-Control', 'no-store')
  list() {
    return { data: this.mailbox.mails };
  }

  /** The HTML of a mail. */
  @Get('mails/:number')
  @MailHeaders()
  mail(@Param('number', ParseIntPipe) number: number, @Query('mode') mode?: string): string {
    return htmlOf(
      this.mailbox.mails.find((mail) => mail.number === number),
      mode,
    );
  }

  @Get('examples/:language')
  @PageHeaders()
  async examples(@Param('language') language: string): Promise<string> {
    const mails = await this.previews(language);
    return page('Mails', [
      EXAMPLES,
      mails.map((mail) =>
        mailCard(mail, `/mailbox/examples/${language}/${mail.kind}`, html`<code>${mail.kind}</code>`),
      ),
    ]);
  }

  /** The HTML of an example. */
  @Get('examples/:language/:kind')
  @MailHeaders()
  async example(
    @Param('language') language: string,
    @Param('kind') kind: string,
    @Query('mode') mode?: string,
  ): Promise<string> {
    const mails = await this.previews(language);
    return htmlOf(
      mails.find((mail) => mail.kind === kind),
      mode,
    );
  }

  private previews(text: string): Promise<MailPreview[]> {
    const language = LANGUAGES.find((one) => one === text);
    if (!language) throw new NotFoundException();
    return this.auth.previewMails(language);
  }
}

function htmlOf(mail: { html?: string } | undefined, mode: string | undefined): string {
  if (mail?.html === undefined) throw new NotFoundException();
  return inMode(mail.html, mode);
}
