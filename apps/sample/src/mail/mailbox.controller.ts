import { Controller, Get, Header } from '@nestjs/common';
import { type Html, html, page } from '../pages/html';
import { Mailbox } from './mailbox';

/** A text with its links to click on. */
const linked = (text: string): Html[] =>
  text.split(/(https?:\S+)/).map((part, i) => (i % 2 ? html`<a href="${part}">${part}</a>` : html`${part}`));

/** Shows the mails that would have been sent. Mounted in development only. */
@Controller('mailbox')
export class MailboxController {
  constructor(private readonly mailbox: Mailbox) {}

  @Get()
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
  list() {
    return { data: this.mailbox.mails };
  }
}
