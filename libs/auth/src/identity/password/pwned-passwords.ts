import { createHash } from 'node:crypto';
import { responseText } from '../../foundation/platform/response-text';
import { BreachedPasswords } from '../../foundation/ports/passwords';

const PREFIX = 5;

/** Bytes that a range may have. Those of the real service have 30 to 90 thousand. */
const MOST_BYTES = 524_288;

const LINE = /^([0-9A-F]{35}):(\d{1,15})$/i;

/**
 * Asks the range service of Have I Been Pwned, or one that speaks like it: one line `suffix:count` at least, and
 * nothing else. It is told the first five digits of the password's SHA-1 and answers all that begin so, padded to
 * hide how many: it learns neither the password nor whether it is known (k-anonymity).
 *
 * What answers otherwise, such as the page of a proxy, has not said that a password is unknown.
 *
 * @publicApi
 */
export class PwnedPasswords extends BreachedPasswords {
  /** @param url where the ranges are: `{url}/{prefix}`. It is not left for another one, whatever it answers */
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
    if (!response.ok) throw new Error(`the range service answered ${response.status}`);
    const range = rangeIn(await responseText(response, MOST_BYTES, 'the range service'));
    // Padding has a count of 0.
    return range.some(([suffix, count]) => suffix === digest.slice(PREFIX) && count > 0);
  }
}

function rangeIn(text: string): [suffix: string, count: number][] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [, suffix, count] = LINE.exec(line.trim()) ?? [];
      if (suffix === undefined) throw new Error('the range service answered no range');
      return [suffix.toUpperCase(), Number(count)];
    });
}
