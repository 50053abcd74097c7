/** The cookies of one browser. Paths are ignored: each name exists once. */
export type CookieJar = Map<string, string>;

const FORM = /<form[^>]* action="([^"]+)"/;
const INPUT = /<input type="hidden" name="([^"]+)" value="([^"]*)"/g;

const decoded = (html: string): string =>
  html.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&#x3D;', '=');

/** A form of a page, with its hidden fields. */
function formOf(html: string): { action: string; fields: URLSearchParams } {
  const [, action] = FORM.exec(html) ?? [];
  if (action === undefined) throw new Error(`the page has no form: ${html}`);
  const fields = [...html.matchAll(INPUT)].map(([, name, value]) => [decoded(name!), decoded(value!)]);
  return { action: decoded(action), fields: new URLSearchParams(fields as [string, string][]) };
}

/**
 * Opens an address of a provider as a browser does: follows redirects and sends forms, until the provider sends the browser to
 * another host.
 *
 * @returns where the browser is sent, and the fields of the form that it posts there, if it posts one
 */
export async function visit(
  address: string,
  jar: CookieJar = new Map(),
): Promise<{ url: URL; posted?: URLSearchParams }> {
  const { origin } = new URL(address);
  let url = new URL(address);
  let body: URLSearchParams | undefined;
  for (let steps = 0; steps < 20; steps++) {
    if (url.origin !== origin) return { url, posted: body };
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { method: body ? 'POST' : 'GET', body, headers: { cookie }, redirect: 'manual' });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
      if (value) jar.set(name!, value);
      else jar.delete(name!);
    }
    const location = response.headers.get('location');
    const html = await response.text();
    if (location) [url, body] = [new URL(location, url), undefined];
    else if (!response.ok) throw new Error(`the provider answered ${response.status}: ${html}`);
    else if (!FORM.test(html)) return { url, posted: body };
    else {
      const { action, fields } = formOf(html);
      [url, body] = [new URL(action, url), fields];
    }
  }
  throw new Error('the provider redirects without end');
}

/** The parameters with which a provider sends the browser back. */
export async function answerOf(address: string, jar?: CookieJar): Promise<URLSearchParams> {
  const { url, posted } = await visit(address, jar);
  return posted ?? url.searchParams;
}
