import { sha256 } from '../kernel/secrets';
import { canonicalId } from '../kernel/uuid';

const PLAIN = /^[\x20-\x7e]{1,255}$/;

/**
 * A session's id as the denylist and PostgreSQL spell it: a co-issuer may print our UUIDs in upper case, and call
 * its own what no column and no index can hold.
 */
export const denialId = (familyId: string): string =>
  PLAIN.test(familyId) ? canonicalId(familyId) : `sha256:${sha256(familyId)}`;

/** The key under which a session is denied. */
export const familyKey = (denied: string): string => `svc:dl:fid:${denied}`;
