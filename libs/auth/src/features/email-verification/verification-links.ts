import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { Clock } from '../../foundation/platform/clock';
import { Signatures, isEqual } from '../../foundation/platform/crypto';
import { Realm } from '../../foundation/realm/realm';

/** What a link says, as it came back. */
export interface PresentedLink {
  /** The user. */
  readonly id: string;
  /** Of the address it was mailed to. */
  readonly hash: string;
  /** All that stands behind the `?`. */
  readonly query: string;
}

const QUERY = /^expires=(\d{1,12})&signature=([0-9a-f]{64})$/;

/**
 * Links that prove a mailbox: the whole link is signed, under the configured URL. A request's `Host` is not
 * asked, and nothing can be added to the link or taken away.
 */
@Injectable()
export class VerificationLinks {
  private readonly signatures: Signatures;

  constructor(
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(AUTH_CONFIG) { encryption: { key, previousKeys } }: AuthConfig,
  ) {
    // Not the tokens' key: under RS256 there is no secret, and a service that only verifies tokens could sign links.
    this.signatures = new Signatures(key === undefined ? [] : [key, ...previousKeys], 'svc:email-verification');
  }

  make(userId: string, email: string): string {
    const expires = this.clock.seconds() + this.realm.options.emailVerification.expire * 60;
    const unsigned = this.unsigned(userId, emailHash(email), String(expires));
    return `${unsigned}&signature=${this.signatures.sign(unsigned)}`;
  }

  /** Whether a link is one of ours, as it was made, and in its time. */
  isGenuine({ id, hash, query }: PresentedLink): boolean {
    const [, expires, signature] = QUERY.exec(query) ?? [];
    if (expires === undefined || signature === undefined) return false;
    if (Number(expires) <= this.clock.seconds()) return false;
    return this.signatures.verify(this.unsigned(id, hash, expires), signature);
  }

  /** Whether the link was mailed to this address. */
  isFor({ hash }: PresentedLink, email: string): boolean {
    return isEqual(hash, emailHash(email));
  }

  private unsigned(id: string, hash: string, expires: string): string {
    const { path, emailVerification } = this.realm.options;
    return `${emailVerification.apiUrl}/${path}/email/verify/${encodeURIComponent(id)}/${hash}?expires=${expires}`;
  }
}

// The address itself would be in every log that URLs end up in.
const emailHash = (email: string): string => createHash('sha1').update(email, 'utf8').digest('hex');
