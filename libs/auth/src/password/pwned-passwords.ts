import { createHash } from 'node:crypto';
import { BreachedPasswords } from './breached-passwords';

const PREFIX = 5;

/**
 * Asks the range service of Have I Been Pwned, or one that speaks like it. It is told the first five digits of
 * the password's SHA-1 and answers all that begin so, padded to hide how many: it learns neither the password
 * nor whether it is known (k-anonymity).
 *
 * @publicApi
 */
export class PwnedPasswords extends BreachedPasswords {
  /** @param url where the ranges are: `{url}/{prefix}` */
  constructor(private readonly url = 'https://api.pwnedpasswords.com/range') {
    super();
  }

  async has(password: string, signal: AbortSignal): Promise<boolean> {
    const digest = createHash('sha1').update(password, 'utf8').digest('hex').toUpperCase();
    const response = await fetch(`${this.url}/${digest.slice(0, PREFIX)}`, {
      headers: { 'Add-Padding': 'true', 'User-Agent': '@svc/auth' },
      signal,
    });
    if (!response.ok) throw new Error(`the range service answered ${response.status}`);
    const lines = (await response.text()).split('\n').map((line) => line.trim().split(':'));
    // Padding has a count of 0.
    return lines.some(([suffix, count]) => suffix === digest.slice(PREFIX) && Number(count) > 0);
  }
}
