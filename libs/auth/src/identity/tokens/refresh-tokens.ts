import { Inject, Injectable } from '@nestjs/common';
import { type KeyObject, createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { rootsOf } from '../../foundation/platform/crypto';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';

const VERSION = 1;
const [FAMILY_BYTES, GENERATION_BYTES, MAC_BYTES] = [16, 4, 32];
const MAC_AT = 1 + FAMILY_BYTES + GENERATION_BYTES;

/** Length of a refresh token in characters. */
const LENGTH = Math.ceil(((MAC_AT + MAC_BYTES) * 4) / 3);

/** The parts of a text in the format of a refresh token. {@link RefreshTokens.isGenuine} verifies its MAC. */
export interface ParsedRefreshToken {
  readonly familyId: string;
  readonly generation: number;
  /** What the MAC is of, besides the salt. */
  readonly signed: Buffer;
  readonly mac: Buffer;
}

/** Parses canonical base64url(version ‖ family ‖ generation ‖ mac); null for every other text. */
export function parseRefreshToken(text: string): ParsedRefreshToken | null {
  if (text.length !== LENGTH) return null;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes[0] !== VERSION || bytes.toString('base64url') !== text) return null;
  const hex = bytes.toString('hex', 1, 1 + FAMILY_BYTES);
  return {
    familyId: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
    generation: bytes.readUInt32BE(1 + FAMILY_BYTES),
    signed: bytes.subarray(1, MAC_AT),
    mac: bytes.subarray(MAC_AT),
  };
}

/**
 * Derives the refresh tokens of the realm's sessions.
 *
 * mac = HMAC-SHA256(key of the root, salt of the session ‖ family ‖ generation), RFC 2104. The key is
 * HKDF-SHA256(root, "svc.refresh:" + guard), RFC 5869. The root is in the configuration and never in the database; the salt is
 * in the database. An attacker needs both to make a token. The token of a generation is always the same, so it is not stored,
 * and it can be sent again when a response was lost.
 */
@Injectable()
export class RefreshTokens {
  /** The first key makes tokens; all keys verify them. */
  private readonly keys: readonly KeyObject[];

  constructor({ guard, options }: Realm, @Inject(AUTH_CONFIG) { encryption }: AuthConfig) {
    // The HS256 secrets remain roots after an encryption key is added, so that adding one ends no sessions. A short text,
    // such as an empty variable, is not a root: an attacker with the database could guess it.
    const texts = rootsOf(options, encryption);
    // A key object, because it is faster: on Node 24, an HMAC takes 2 µs with a key object and 13 µs with a buffer.
    this.keys = texts.map((root) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', root, '', `svc.refresh:${guard}`, MAC_BYTES))),
    );
  }

  /** Makes the token of a generation. @throws AuthConfigError without a root */
  mint(familyId: string, generation: number, salt: Buffer): string {
    const [key] = this.keys;
    if (!key) throw new AuthConfigError('Refresh tokens need a root. Set encryption.key (SVC_ENCRYPTION_KEY).');
    const bytes = Buffer.alloc(MAC_AT + MAC_BYTES, VERSION);
    bytes.write(familyId.replaceAll('-', ''), 1, 'hex');
    bytes.writeUInt32BE(generation, 1 + FAMILY_BYTES);
    mac(key, salt, bytes.subarray(1, MAC_AT)).copy(bytes, MAC_AT);
    return bytes.toString('base64url');
  }

  /** Whether this server made a token, under the current root or a former one. Takes constant time for each root. */
  isGenuine({ signed, mac: presented }: ParsedRefreshToken, salt: Buffer): boolean {
    return this.keys.some((key) => timingSafeEqual(mac(key, salt, signed), presented));
  }
}

// The signed part has a fixed length, so no two pairs of a salt and a signed part are the same text.
const mac = (key: KeyObject, salt: Buffer, signed: Buffer): Buffer =>
  createHmac('sha256', key).update(salt).update(signed).digest();
