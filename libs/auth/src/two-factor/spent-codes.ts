import { Injectable } from '@nestjs/common';
import { sha256 } from '../kernel/secrets';
import { SecurityStore } from '../security-store/security-store';
import { CLOCK_MARGIN } from '../session-state/denylist-keys';
import { Totp, type TotpMatch } from './totp';

/**
 * Codes that were accepted (RFC 6238 §5.2: never the same one twice). Kept by secret, so that one that two
 * guards share has one history.
 */
@Injectable()
export class SpentCodes {
  constructor(
    private readonly store: SecurityStore,
    private readonly totp: Totp,
  ) {}

  /**
   * Accepts a code, once. Only of a later step than the last one accepted: whoever read an earlier code of
   * the window over a shoulder comes too late. Of many at once, one.
   */
  async claim({ secret, code, step }: TotpMatch): Promise<boolean> {
    // On a node whose clock is behind, a code is good for longer.
    const lifetime = this.totp.codeLifetime + CLOCK_MARGIN;
    if (!(await this.store.advance(`svc:2fa:step:${sha256(secret)}`, step, lifetime))) return false;
    // Two steps may have the same digits: those are one code, and used up.
    return this.store.add(`svc:2fa:used:${sha256(`${secret}|${code}`)}`, 'true', lifetime);
  }
}
