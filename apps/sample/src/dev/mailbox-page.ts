import type { MailContent } from '@svc/auth';

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

/**
 * The HTML of a mail as mail clients show it in light and in dark mode, and below it its text. The HTML is in a frame without
 * the rights of this page: no script runs in it, and its links open in another tab.
 *
 * @param address where the HTML is served
 * @param details what the page says about the mail
 */
export const mailCard = ({ subject, text, html: hasHtml }: MailContent, address: string, details: unknown): Html =>
  html`<article class="card">
    <h2>${subject}</h2>
    <p class="muted">${details}</p>
    <div class="renderings">
      ${
        hasHtml
          ? ['light', 'dark'].map(
              (mode) =>
                html`<iframe
                  class="rendering ${mode}"
                  title="${subject}, in ${mode} mode"
                  src="${address}?mode=${mode}"
                  loading="lazy"
                  sandbox="allow-popups allow-popups-to-escape-sandbox"
                ></iframe>`,
            )
          : html``
      }
    </div>
    <details>
      <summary>Plain text</summary>
      <pre>${linked(text)}</pre>
    </details>
  </article>`;

/**
 * The HTML of a mail in light or in dark mode, whatever the mode of the browser is. Any other mode leaves it unchanged.
 */
export const inMode = (mail: string, mode: string | undefined): string =>
  mode === 'light' || mode === 'dark'
    ? mail.replaceAll(/\(prefers-color-scheme: ?(light|dark)\)/g, (_, named) =>
        named === mode ? '(min-width: 0)' : '(max-width: 0)',
      )
    : mail;

/** A complete HTML page with the style sheets of the sample's page. */
export const page = (title: string, body: unknown): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="The mails of this development server, which sends none." />
        <title>${title}</title>
        <link rel="icon" href="/web/icon.svg" />
        <link rel="stylesheet" href="/web/style.css" />
        <link rel="stylesheet" href="/web/parts.css" />
        <link rel="stylesheet" href="/web/controls.css" />
        <link rel="stylesheet" href="/web/mailbox.css" />
      </head>
      <body>
        <header class="top">
          <a class="brand" href="/"><span>@svc/auth</span></a>
          <a class="button small" href="/">Back to the page</a>
        </header>
        <main class="mailbox" id="main">
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`.text;
