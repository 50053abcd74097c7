import { createHash } from 'node:crypto';
import { responseText } from '../../foundation/platform/http-text';
import { BreachedPasswords } from '../../foundation/ports/passwords';

const PREFIX = 5;

/** Maximum size of a range in bytes. Ranges of Have I Been Pwned have 30 to 90 thousand. */
const MOST_BYTES = 524_288;

const LINE = /^([0-9A-F]{35}):(\d{1,15})$/i;

/**
 * Looks up passwords in the range service of Have I Been Pwned, or in a compatible one. The request contains the first
 * five hex digits of the password's SHA-1. The response lists all digests with this prefix, one line `suffix:count` each,
 * and is padded to hide their number. The service learns neither the password nor the result (k-anonymity).
 *
 * Any other response, such as the page of a proxy, is an error: it does not show that the password is unknown.
 *
 * @publicApi
 */
export class PwnedPasswords extends BreachedPasswords {
  /** @param url base of the range URLs, `{url}/{prefix}`. Redirects are errors */
  constructor(private readonly url = 'https://api.pwnedpasswords.com/range') {
    super();
  }

  async has(password: string, signal: AbortSignal): Promise<boolean> {
    const digest = createHash('sha1').update(password, 'utf8').digest('hex').toUpperCase();
    const response = await fetch(`${this.url}/${digest.slice(0, PREFIX)}`, {
      headers: { 'Add-Padding': 'true', 'User-Agent': '@svc/auth' },
      redirect: 'error',
      signal,
    });
    if (!response.ok) throw new Error(`the range service returned status ${response.status}`);
    const range = rangeIn(await responseText(response, MOST_BYTES, 'the range service'));
    // Padding lines have the count 0.
    return range.some(([suffix, count]) => suffix === digest.slice(PREFIX) && count > 0);
  }
}

function rangeIn(text: string): [suffix: string, count: number][] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [, suffix, count] = LINE.exec(line.trim()) ?? [];
      if (suffix === undefined) throw new Error('the range service did not return a range');
      return [suffix.toUpperCase(), Number(count)];
    });
}
