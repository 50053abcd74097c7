/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(value: unknown): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(escaped).join('');
  return String(value ?? '').replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

/** A template whose values are escaped, unless they are templates. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  new Html(String.raw({ raw: strings }, ...values.map(escaped)));

/** A whole page. */
export const page = (title: string, body: unknown): string =>
  html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <title>${title}</title>
      <body style="font: 1rem system-ui; max-width: 40rem; margin: 3rem auto">
        <h1>${title}</h1>
        ${body}
      </body>
    </html>`.text;
