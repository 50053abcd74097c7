import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { Clock, Realm, crypto, settings } from '../../kit';

/** The parts of a link in a request. */
export interface PresentedLink {
  /** Id of the user. */
  readonly id: string;
  /** Hash of the address to which the link was mailed. */
  readonly hash: string;
  /** Everything after the `?`. */
  readonly query: string;
}

const QUERY = /^expires=(\d{1,12})&signature=([0-9a-f]{64})$/;

/**
 * Makes and checks the links that verify an email address. The signature covers the whole link with the configured URL,
 * so no part of a link can be changed, and the `Host` header of a request has no influence.
 */
@Injectable()
export class VerificationLinks {
  private readonly signatures: crypto.Signatures;

  constructor(
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(settings.AUTH_CONFIG) { encryption: { key, previousKeys } }: settings.AuthConfig,
  ) {
    // Not the key of the tokens: with HS256, a service that only verifies tokens could sign links; with RS256 there is
    // no secret.
    this.signatures = new crypto.Signatures(key === undefined ? [] : [key, ...previousKeys], 'svc:email-verification');
  }

  make(userId: string, email: string): string {
    const expires = this.clock.seconds() + this.realm.options.emailVerification.expire * 60;
    const unsigned = this.unsigned(userId, emailHash(email), String(expires));
    return `${unsigned}&signature=${this.signatures.sign(unsigned)}`;
  }

  /** Whether this server made the link and it has not expired. */
  isGenuine({ id, hash, query }: PresentedLink): boolean {
    const [, expires, signature] = QUERY.exec(query) ?? [];
    // An unpaired surrogate cannot be part of a URL.
    if (expires === undefined || signature === undefined || /\p{Surrogate}/u.test(id)) return false;
    if (Number(expires) <= this.clock.seconds()) return false;
    return this.signatures.verify(this.unsigned(id, hash, expires), signature);
  }

  /** The text of a link as it was mailed. */
  urlOf({ id, hash, query }: PresentedLink): string {
    const { path, emailVerification } = this.realm.options;
    return `${emailVerification.apiUrl}/${path}/email/verify/${encodeURIComponent(id)}/${hash}?${query}`;
  }

  /** Whether the link was mailed to this address. */
  isFor({ hash }: PresentedLink, email: string): boolean {
    return crypto.isEqual(hash, emailHash(email));
  }

  private unsigned(id: string, hash: string, expires: string): string {
    return this.urlOf({ id, hash, query: `expires=${expires}` });
  }
}

// A hash, because URLs are logged and the address is personal data.
const emailHash = (email: string): string => createHash('sha1').update(email, 'utf8').digest('hex');
