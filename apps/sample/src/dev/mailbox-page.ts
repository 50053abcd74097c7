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
      </head>
      <body>
        <header class="top"><a class="brand" href="/">Back to the page</a></header>
        <main class="narrow" id="main">
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`.text;
