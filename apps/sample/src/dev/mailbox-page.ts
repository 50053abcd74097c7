import type { MailContent } from '@svc/auth';
import { QUICK_START, SOURCE } from '../web/page-config';
import { MAIL_SANDBOX } from '../web/page-headers';

/** A text that is HTML. */
export class Html {
  constructor(readonly text: string) {}
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(value: unknown): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(escaped).join('');
  return String(value ?? '').replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

/** An HTML template. Its values are escaped, except those that are templates. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  new Html(String.raw({ raw: strings }, ...values.map(escaped)));

/** A text as HTML, in which each URL is a link. */
const linked = (text: string): Html[] =>
  text.split(/(https?:\S+)/).map((part, i) => (i % 2 ? html`<a href="${part}">${part}</a>` : html`${part}`));

/** What a row of the list says about a mail, and where its HTML is served. */
export interface Row {
  readonly address: string;
  readonly details: unknown;
  readonly language?: string;
}

/**
 * A mail as a row that opens: its HTML as mail clients show it in light and in dark mode, and below it its text. The HTML is in
 * a frame in which nothing is allowed that the page could suffer from: no script runs in it, and its links open in another tab.
 * Its origin is that of the page, which reads how high the content is (`mailbox.js`).
 */
const mailRow = ({ subject, text, html: hasHtml }: MailContent, { address, details, language }: Row, i: number) =>
  html`<li ${language ? html`lang="${language}"` : ''}>
    <details class="mail" ${i ? '' : 'open'}>
      <summary>
        <h2>${subject}</h2>
        <span class="muted" lang="en">${details}</span>
      </summary>
      <div class="renderings">
        ${
          hasHtml
            ? ['Light', 'Dark'].map((name) => {
                const mode = name.toLowerCase();
                return html`<div class="${mode}">
                  <p class="note" lang="en">${name}</p>
                  <iframe
                    title="${subject}, in ${mode} mode"
                    src="${address}?mode=${mode}"
                    loading="lazy"
                    sandbox="${MAIL_SANDBOX}"
                  ></iframe>
                </div>`;
              })
            : html``
        }
      </div>
      <details>
        <summary lang="en">Plain text</summary>
        <pre>${linked(text)}</pre>
      </details>
    </details>
  </li>`;

/** A list of mails, of which the first one is open. */
export const mailList = <M extends MailContent>(mails: readonly M[], rowOf: (mail: M) => Row): Html =>
  html`<ul class="mails">
    ${mails.map((mail, i) => mailRow(mail, rowOf(mail), i))}
  </ul>`;

/**
 * The HTML of a mail in light or in dark mode, whatever the mode of the browser is. Any other mode leaves it unchanged.
 */
export const inMode = (mail: string, mode: string | undefined): string =>
  mode === 'light' || mode === 'dark'
    ? mail.replaceAll(/\(prefers-color-scheme: ?(light|dark)\)/g, (_, named) =>
        named === mode ? '(min-width: 0)' : '(max-width: 0)',
      )
    : mail;

/** A complete HTML page with the style sheets and the footer of the sample's page. */
export const page = (title: string, body: unknown): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="Email that this development server would have sent, and each template." />
        <title>${title}</title>
        <link rel="icon" href="/web/icon.svg" />
        <link rel="stylesheet" href="/web/style.css" />
        <link rel="stylesheet" href="/web/parts.css" />
        <link rel="stylesheet" href="/web/controls.css" />
        <link rel="stylesheet" href="/web/mailbox.css" />
        <script type="module" src="/web/mailbox.js"></script>
      </head>
      <body>
        <header class="top">
          <a class="brand" href="/"><span>@svc/auth</span></a>
          <a class="button small" href="/">Back to the demo</a>
        </header>
        <main class="mailbox" id="main">
          <h1>${title}</h1>
          ${body}
        </main>
        <footer class="muted">
          <a href="/mailbox">Mailbox</a>
          <a href="/docs">API docs</a>
          <a href="${QUICK_START}">Quick start</a>
          <a href="${SOURCE}">Source</a>
          <span>English only</span>
        </footer>
      </body>
    </html>`.text;
