import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { createHash } from 'node:crypto';
import { Clock, Realm, crypto, http, settings } from '../../kit';

/** The parts of a link. A part that a request does not have is empty. */
export interface PresentedLink {
  /** Id of the user. */
  readonly id: string;
  /** Hash of the address to which the link was mailed. */
  readonly hash: string;
  /** The end of the link, in seconds. */
  readonly expires: string;
  readonly signature: string;
}

/** `invalid`: the signature is not that of the other parts. `expired`: it is, and the link was valid earlier. */
export type LinkState = 'genuine' | 'expired' | 'invalid';

/** Programs between the mail and the server encode a link at most twice. */
const MAX_ENCODINGS = 2;

const HASH = /^[0-9a-f]{40}$/;

/** The form of each parameter. A mail program may add the punctuation that follows a link in a text. */
const FORMS = { expires: /^(\d{1,12})[^\p{L}\p{N}]*$/u, signature: /^([0-9a-f]{64})[^\p{L}\p{N}]*$/u } as const;

/**
 * Reads the link of a request. Mail programs and trackers change links: they add parameters, change the order, write `&amp;`
 * for `&`, encode `=`, `&` or `?`, or add the `.`, `>` or `)` that follows the link in the mail. None of this changes the
 * parts, which the signature covers. A parameter that occurs twice is refused. Pure.
 *
 * @param hash the last segment of the path; it contains the query if the `?` was encoded
 * @param query everything after the `?`
 */
export function readLink(id: string, hash: string, query: string): PresentedLink {
  let text = `${hash}?${query}`;
  for (let encodings = 0; encodings <= MAX_ENCODINGS; encodings++) {
    const [start = '', ...pairs] = text.split(/[?&]/);
    const [expires, signature] = [valuesOf('expires', pairs), valuesOf('signature', pairs)];
    const [until, mac] = [expires[0], signature[0]];
    if (expires.length > 1 || signature.length > 1) break;
    if (until && mac && HASH.test(start)) return { id, hash: start, expires: until, signature: mac };
    text = decoded(text);
  }
  return { id, hash: '', expires: '', signature: '' };
}

/** The values of a parameter; empty for one without the form. */
function valuesOf(name: keyof typeof FORMS, pairs: readonly string[]): string[] {
  return pairs.flatMap((pair) => {
    const [key = '', ...value] = pair.split('=');
    if (key.replace(/^(amp;)+/, '') !== name) return [];
    return FORMS[name].exec(decoded(value.join('=')))?.[1] ?? '';
  });
}

/** The decoded text; the text itself if it is not a valid encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The route of the links, below the path of the guard. */
const VERIFY = 'email/verify/:id/:hash';

/** The global prefix that a base URL lacks; null if it lacks none. Pure. */
export const missingPrefix = (url: string | undefined, prefix: string): string | null =>
  !url || !prefix || `${new URL(url).pathname.replace(/\/+$/, '')}/`.endsWith(`/${prefix}/`) ? null : prefix;

/**
 * Makes and checks the links that verify an email address. They begin with the configured URL: the `Host` header of a request
 * has no influence. The signature covers the guard, the user, the address and the expiry.
 */
@Injectable()
export class VerificationLinks implements OnApplicationBootstrap {
  private readonly signatures: crypto.Signatures;

  constructor(
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly application: ApplicationConfig,
    @Inject(settings.AUTH_CONFIG) { encryption: { key, previousKeys } }: settings.AuthConfig,
  ) {
    // Not the key of the tokens: with HS256, a service that only verifies tokens could sign links; with RS256 there is
    // no secret.
    this.signatures = new crypto.Signatures(key === undefined ? [] : [key, ...previousKeys], 'svc:email-verification');
  }

  /** A link without the global prefix leads to no route, unless a proxy adds the prefix: so it is no error. */
  onApplicationBootstrap(): void {
    const { path, nameOf, isDefault, emailVerification } = this.realm.options;
    const named = nameOf('emailVerification.apiUrl');
    const isInherited = !isDefault && named === 'emailVerification.apiUrl';
    const missing = missingPrefix(emailVerification.apiUrl, http.prefixOf(this.application, `${path}/${VERIFY}`));
    if (missing === null || isInherited) return;
    const base = emailVerification.apiUrl?.replace(/\/+$/, '');
    new Logger('Auth').warn(
      `${named} (SVC_VERIFY_API_URL) is without the global prefix "${missing}" of the application, below ` +
        `which it serves mailed links. Set it to ${base}/${missing}, unless a proxy adds the prefix.`,
    );
  }

  make(userId: string, email: string): string {
    const expires = String(this.clock.seconds() + this.realm.options.emailVerification.expire * 60);
    const signed = { id: userId, hash: emailHash(email), expires };
    return this.urlOf({ ...signed, signature: this.signatures.sign(this.signedText(signed)) });
  }

  /** Whether this server made the link, and it has not expired. */
  stateOf(link: PresentedLink): LinkState {
    if (!this.signatures.verify(this.signedText(link), link.signature)) return 'invalid';
    return Number(link.expires) > this.clock.seconds() ? 'genuine' : 'expired';
  }

  /** The text of a link as it was mailed. */
  urlOf({ id, hash, expires, signature }: PresentedLink): string {
    const { path, emailVerification } = this.realm.options;
    const query = `expires=${expires}&signature=${signature}`;
    return `${emailVerification.apiUrl}/${path}/email/verify/${encodeURIComponent(id)}/${hash}?${query}`;
  }

  /** Whether the link was mailed to this address. */
  isFor({ hash }: PresentedLink, email: string): boolean {
    return crypto.isEqual(hash, emailHash(email));
  }

  /** As a list in JSON, so that no part can contain the beginning of the next one. */
  private signedText({ id, hash, expires }: Omit<PresentedLink, 'signature'>): string {
    return JSON.stringify([this.realm.guard, id, hash, expires]);
  }
}

// A hash, because URLs are logged and the address is personal data.
const emailHash = (email: string): string => createHash('sha1').update(email, 'utf8').digest('hex');
