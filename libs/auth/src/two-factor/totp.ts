import { Injectable } from '@nestjs/common';
import { Clock } from '../kernel/clock';
import { Realm } from '../realm/realm';
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
