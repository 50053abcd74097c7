import { decode } from 'jsonwebtoken';
import type { SecurityLine } from '../observability/security-line';
import { callerOf } from '../tokens/caller';

/** Whom a line of the security log is about. */
export type About = Pick<SecurityLine, 'user_id' | 'session_id' | 'ip'>;

/** Who sent a request, as far as it was authenticated. */
export function aboutRequest(request: { ip?: unknown }): About {
  const caller = callerOf(request);
  return {
    user_id: caller?.userId,
    session_id: caller?.familyId ?? undefined,
    ip: typeof request.ip === 'string' ? request.ip : undefined,
  };
}

/** Who was just signed in or challenged: read from the token of our own that answers. */
export function aboutAnswer(answer: unknown): About {
  const { access_token: access, challenge_token: challenge } = (answer ?? {}) as Record<string, unknown>;
  const token = access ?? challenge;
  const claims = typeof token === 'string' ? decode(token, { json: true }) : null;
  if (!claims) return {};
  return { user_id: claims.sub, ...(typeof claims.fid === 'string' && { session_id: claims.fid }) };
}
