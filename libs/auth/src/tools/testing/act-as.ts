import type { INestApplicationContext } from '@nestjs/common';
import { decode } from 'jsonwebtoken';
import { Auth } from '../../auth';
import { Confirmations } from '../../features/step-up/confirmations';
import { Realms } from '../../foundation/realm/realm';
import type { SessionTokens } from '../../request/http/route.interceptor';

/** How a user acts. */
export interface ActOptions {
  /** The guard whose user it is; the default one where it is left out. */
  guard?: string;
  /** Pins the session to these abilities, an empty list to nothing; left out, it may do what its user may. */
  abilities?: readonly string[];
  /** Whether the user has just confirmed who it is, for routes that ask for it. */
  confirmed?: boolean;
}

/** A signed-in user: the tokens of a session, and what to send with each request. */
export interface Actor extends SessionTokens {
  readonly userId: string;
  /** The `fid` claim. */
  readonly sessionId: string;
  /** `Authorization` and, where it is confirmed, the confirmation header. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs a user in without a password. The session, its tokens and its confirmation are real: every gate judges them as
 * it judges those of a login.
 *
 * @throws Unauthenticated for a user who is not there; AuthConfigError for abilities that are none, or an unknown guard
 * @example
 * const ada = await actAs(app, user.id, { abilities: ['orders.read'] });
 * await request(app.getHttpServer()).get('/orders').set(ada.headers).expect(200);
 * @publicApi
 */
export async function actAs(
  app: INestApplicationContext,
  user: string | number,
  { guard, abilities, confirmed = false }: ActOptions = {},
): Promise<Actor> {
  const realms = app.get(Realms, { strict: false });
  const scope = realms.named(guard) ?? realms.default;
  const auth = app.get(Auth, { strict: false }).guard(scope.realm.guard);
  const tokens = await auth.startSession(user, {}, abilities);
  const { fid: sessionId } = decode(tokens.accessToken, { json: true }) as { fid: string };
  const userId = String(user);
  const headers: Record<string, string> = { Authorization: `Bearer ${tokens.accessToken}` };
  if (confirmed)
    headers[scope.realm.options.confirm.header] = scope.get(Confirmations).mint({ userId, familyId: sessionId });
  return { ...tokens, userId, sessionId, headers };
}
