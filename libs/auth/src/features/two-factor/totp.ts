import { Injectable } from '@nestjs/common';
import { Clock } from '../../foundation/platform/clock';
import { sha256 } from '../../foundation/platform/crypto';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { CLOCK_MARGIN } from '../../identity/denylist/denylist';
import { otpLibrary } from './otp-library';

const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
const CODE = /^[0-9]{6}$/;

/** A right code, and the time step it is of. */
export interface TotpMatch {
  readonly secret: string;
  readonly code: string;
  readonly step: number;
}

/** Time-based one-time passwords (RFC 6238): SHA-1, six digits, steps of 30 seconds. */
@Injectable()
export class Totp {
  private readonly library = otpLibrary();

  constructor(
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /** 160 random bits in base32 (RFC 4226 §4 R6). */
  newSecret(): string {
    return this.library.generateSecret({ length: SECRET_BYTES });
  }

  /** The match of a code within `twoFactor.window` of now, spaces aside; null for a wrong code or no secret. */
  match(secret: string | null, given: string): TotpMatch | null {
    const code = given.replaceAll(/\s/g, '');
    // The library throws for what is no code.
    if (!secret || !CODE.test(code)) return null;
    const step = this.stepOf(secret, code);
    return step === null ? null : { secret, code, step };
  }

  private stepOf(secret: string, token: string): number | null {
    const epochTolerance = this.realm.options.twoFactor.window * STEP_SECONDS;
    const verified = this.library.verifySync({ secret, token, epoch: this.clock.seconds(), epochTolerance });
    return verified.valid && 'timeStep' in verified ? verified.timeStep : null;
  }

  /** Seconds after which no code that is accepted now can be accepted any more. */
  get codeLifetime(): number {
    return (2 * this.realm.options.twoFactor.window + 1) * STEP_SECONDS;
  }
}

/**
 * The URI that authenticator apps read as a QR code (the "Key Uri Format").
 *
 * @param issuer who asks for the codes
 * @param holder the account, as its owner knows it
 * @param secret base32
 */
export function otpauthUri(issuer: string, holder: string, secret: string): string {
  const [who, whose] = [segment(issuer), segment(holder)];
  // Percent-encoded, also in the query: apps show a "+" as it is.
  return `otpauth://totp/${who}:${whose}?secret=${secret}&issuer=${who}&algorithm=SHA1&digits=6&period=30`;
}

/** The colon parts issuer and holder, in any encoding, so neither may contain one. */
const segment = (text: string): string => encodeURIComponent(text.replaceAll(/\s*:\s*/g, ' ').trim());

/**
 * Codes that were accepted (RFC 6238 §5.2: never the same one twice). Kept by secret, so that one that two
 * guards share has one history.
 */
@Injectable()
export class UsedCodes {
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
