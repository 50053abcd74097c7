import { sha256 } from '../../foundation/platform/crypto';
import { canonicalId } from '../../foundation/platform/ids';

const PLAIN = /^[\x20-\x7e]{1,255}$/;

/** Seconds by which the clocks of nodes and stores may differ, beyond the leeway. */
export const CLOCK_MARGIN = 60;

/** Seconds for which an access token can be presented after it was minted. A denial lasts as long. */
export const longestLife = ({ accessTtl, leeway }: { accessTtl: number; leeway: number }): number =>
  accessTtl + leeway + CLOCK_MARGIN;

/** Begins the key of every denied session. */
export const FAMILY_KEYS = 'svc:dl:fid:';

/**
 * The key under which a session is denied. A co-issuer may write our UUIDs in upper case, and may name its own sessions
 * by any text.
 */
export const familyKey = (familyId: string): string =>
  FAMILY_KEYS + (PLAIN.test(familyId) ? canonicalId(familyId) : `sha256:${sha256(familyId)}`);

/** The key of one token, by its `jti`. */
export const tokenKey = (id: string): string => `svc:dl:jti:${id}`;
