import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { OwnHost } from '../web/own-host.guard';
import { PageHeaders } from '../web/page-headers';
import { type Html, html, page } from './mailbox-page';
import { Mailbox } from './mailbox';

/** A text as HTML, in which each URL is a link. */
const linked = (text: string): Html[] =>
  text.split(/(https?:\S+)/).map((part, i) => (i % 2 ? html`<a href="${part}">${part}</a>` : html`${part}`));

/** Shows the mails of the mailbox. They contain links into accounts of other users, so it is mounted in development only. */
@Controller('mailbox')
@UseGuards(OwnHost)
export class MailboxController {
  constructor(private readonly mailbox: Mailbox) {}

  @Get()
  @PageHeaders()
  show(): string {
    const mails = this.mailbox.mails.map(
      ({ to, subject, text }) =>
        html`<article class="card">
          <h2>${subject}</h2>
          <p class="muted">to ${to}</p>
          <pre class="mail">${linked(text)}</pre>
        </article>`,
    );
    return page('Mailbox', mails.length ? mails : html`<p class="muted">No mail yet.</p>`);
  }

  @Get('mails')
  @Header('Cache-Control', 'no-store')
  list() {
    return { data: this.mailbox.mails };
  }
}
