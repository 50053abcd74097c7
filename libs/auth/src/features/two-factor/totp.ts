import { Injectable } from '@nestjs/common';
import { Clock, type CodeFormat, Realm, SecurityStore, crypto, identity, pg, session, typedCode } from '../../kit';
import { otpLibrary } from './otp-library';

const SECRET_BYTES = 20;

/** Secrets of other systems may have 80 bits. The library refuses fewer than 128 bits by default. */
const MIN_SECRET_BYTES = 10;

const STEP_SECONDS = 30;
const CODE: CodeFormat = { alphabet: 'digits', length: 6 };

/** A correct code and its time step. */
export interface TotpMatch {
  readonly secret: string;
  readonly code: string;
  readonly step: number;
}

/** Generates secrets and checks time-based one-time passwords (RFC 6238): SHA-1, six digits, steps of 30 seconds. */
@Injectable()
export class Totp {
  private readonly library = otpLibrary();
  private readonly guardrails = pg.once(() => this.library().createGuardrails({ MIN_SECRET_BYTES }));

  constructor(
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /** Returns 160 random bits in base32 (RFC 4226 §4 R6). */
  newSecret(): string {
    return this.library().generateSecret({ length: SECRET_BYTES });
  }

  /** Returns the bytes of a secret in base32. */
  encoded(secret: Uint8Array): string {
    return new (this.library().ScureBase32Plugin)().encode(secret);
  }

  /** Whether codes of this secret can be checked: base32 of 10 to 64 bytes. The library throws for any other text. */
  isUsable(secret: string): boolean {
    try {
      return this.library().generateSync({ secret, epoch: 0, guardrails: this.guardrails() }).length > 0;
    } catch {
      return false;
    }
  }

  /** Checks a typed code for the time steps within `twoFactor.window`. Null for a wrong code, or without a usable secret. */
  match(secret: string | null, typed: string): TotpMatch | null {
    const code = typedCode(typed, CODE);
    // The library throws for a text that is not a code.
    if (!secret || code === null || !this.isUsable(secret)) return null;
    const step = this.stepOf(secret, code);
    return step === null ? null : { secret, code, step };
  }

  private stepOf(secret: string, token: string): number | null {
    const epochTolerance = this.realm.options.twoFactor.window * STEP_SECONDS;
    const [epoch, guardrails] = [this.clock.seconds(), this.guardrails()];
    const verified = this.library().verifySync({ secret, token, epoch, epochTolerance, guardrails });
    return verified.valid && 'timeStep' in verified ? verified.timeStep : null;
  }

  /** Seconds after which no code that is accepted now can be accepted again. */
  get codeLifetime(): number {
    return (2 * this.realm.options.twoFactor.window + 1) * STEP_SECONDS;
  }
}

/**
 * Makes the URI that authenticator apps read from a QR code (the "Key Uri Format").
 *
 * @param issuer name of the application
 * @param holder name of the account for its user
 * @param secret base32
 */
export function otpauthUri(issuer: string, holder: string, secret: string): string {
  const [issuerLabel, holderLabel] = [segment(issuer), segment(holder)];
  // Percent-encoded, also in the query, because apps show a "+" unchanged.
  return `otpauth://totp/${issuerLabel}:${holderLabel}?secret=${secret}&issuer=${issuerLabel}&algorithm=SHA1&digits=6&period=30`;
}

/** Removes colons: a colon separates issuer and holder, also when it is percent-encoded. */
const segment = (text: string): string => encodeURIComponent(text.replaceAll(/\s*:\s*/g, ' ').trim());

/**
 * Records accepted codes, so that no code is accepted twice (RFC 6238 §5.2). They are stored by secret, so guards that
 * share a secret share the record.
 */
@Injectable()
export class UsedCodes {
  constructor(
    private readonly store: SecurityStore,
    private readonly totp: Totp,
  ) {}

  /**
   * Accepts a code once, and only for a later time step than the last accepted one, so that an observed earlier code of
   * the window cannot be replayed. Of several concurrent calls, one accepts it.
   *
   * @throws UsedCode
   */
  async claim({ secret, code, step }: TotpMatch): Promise<true> {
    // A node whose clock is behind accepts a code for longer.
    const lifetime = this.totp.codeLifetime + identity.CLOCK_MARGIN;
    const isLater = await this.store.advance(`svc:2fa:step:${crypto.sha256(secret)}`, step, lifetime);
    // Two time steps may have the same code. It is also accepted only once.
    if (isLater && (await this.store.add(`svc:2fa:used:${crypto.sha256(`${secret}|${code}`)}`, 'true', lifetime)))
      return true;
    throw new session.UsedCode();
  }
}
