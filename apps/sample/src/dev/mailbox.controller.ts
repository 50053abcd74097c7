import { Controller, Get, Header, NotFoundException, Param, ParseIntPipe, Query, UseGuards } from '@nestjs/common';
import { Auth, type MailPreview } from '@svc/auth';
import { LANGUAGES } from '@svc/auth/languages';
import { OwnHost } from '../web/own-host.guard';
import { MailHeaders, PageHeaders } from '../web/page-headers';
import { html, inMode, mailList, page } from './mailbox-page';
import { Mailbox } from './mailbox';

/** In the time zone of the developer, whose server this is. */
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** A language in that language: Deutsch, Français. */
function nameOf(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language)!;
  return name[0]!.toLocaleUpperCase(language) + name.slice(1);
}

/** Links to the examples in every language. @param open the one that is shown */
const templates = (open?: string) =>
  html`<p class="templates">
    All email templates:
    ${LANGUAGES.map(
      (language) =>
        html`<a
          href="/mailbox/examples/${language}"
          lang="${language}"
          hreflang="${language}"
          ${language === open ? html`aria-current="page"` : ''}
          >${nameOf(language)}</a
        >`,
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
    const { mails } = this.mailbox;
    return page('Mailbox', [
      html`<p class="muted">Email this server would have sent, newest first.</p>`,
      mails.length
        ? mailList(mails, ({ number, to, at }) => ({
            address: `/mailbox/mails/${number}`,
            details: html`<span>${to}</span> <time datetime="${at.toISOString()}">${TIME.format(at)}</time>`,
          }))
        : html`<p class="empty">No email yet.</p>`,
      templates(),
    ]);
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
    return page('Email templates', [
      html`<p class="muted">Each email of the library, as an example.</p>`,
      mailList(mails, ({ kind }) => ({
        address: `/mailbox/examples/${language}/${kind}`,
        details: html`<code>${kind}</code>`,
        language,
      })),
      templates(language),
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
