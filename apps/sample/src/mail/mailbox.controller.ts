import { Controller, Get, Header } from '@nestjs/common';
import { type Html, html, page } from '../pages/html';
import { Mailbox } from './mailbox';

/** A text with its links to click on. */
const linked = (text: string): Html[] =>
  text.split(/(https?:\S+)/).map((part, i) => (i % 2 ? html`<a href="${part}">${part}</a>` : html`${part}`));

/** Shows the mails that would have been sent, links to other people's accounts among them. Mounted for developers only. */
@Controller('mailbox')
export class MailboxController {
  constructor(private readonly mailbox: Mailbox) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  @Header('Content-Type', 'text/html; charset=utf-8')
  show(): string {
    const mails = this.mailbox.mails.map(
      ({ to, subject, text }) =>
        html`<h2>${subject}</h2>
          <p>to ${to}</p>
          <pre>${linked(text)}</pre>`,
    );
    return page('Mailbox', mails.length ? mails : html`<p>No mail yet.</p>`);
  }

  @Get('mails')
  @Header('Cache-Control', 'no-store')
  list() {
    return { data: this.mailbox.mails };
  }
}
