import type { INestApplicationContext } from '@nestjs/common';
import { Auth } from '../../auth';
import { Confirmations } from '../../features/step-up/confirmations';
import { Realms } from '../../foundation/realm/realm';
import { unverifiedClaims } from '../../identity/tokens/keyring';
import type { SessionTokens } from '../../request/http/route-answer';

/** Options of {@link actAs}. */
export interface ActOptions {
  /** The guard of the user. Default: the default guard. */
  guard?: string;
  /** Pins the session to these abilities; an empty list grants nothing. Default: the abilities of the user. */
  abilities?: readonly string[];
  /** Adds a confirmation token, for routes that require a confirmation. Default: false. */
  confirmed?: boolean;
  /**
   * How the user has signed in to the session (RFC 8176), such as `['pwd']`: for routes that require a recent login. Default:
   * no user has signed in to it.
   */
  amr?: readonly string[];
}

/** A signed-in user: the tokens of a session, and the headers for each request. */
export interface ActedUser extends SessionTokens {
  /** The `fid` claim. */
  readonly familyId: string;
  /** `Authorization` and, with `confirmed`, the confirmation header. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs a user in without a password. The session, its tokens and its confirmation are real: every gate checks them like
 * those of a login.
 *
 * @throws Unauthenticated for an unknown user
 * @throws AuthConfigError for invalid abilities, or an unknown guard
 * @example
 * const ada = await actAs(app, user.id, { abilities: ['orders.read'] });
 * await request(app.getHttpServer()).get('/orders').set(ada.headers).expect(200);
 * @publicApi
 */
export async function actAs(
  app: INestApplicationContext,
  user: string | number,
  { guard, abilities, confirmed = false, amr }: ActOptions = {},
): Promise<ActedUser> {
  const realms = app.get(Realms, { strict: false });
  const scope = realms.named(guard) ?? realms.default;
  const auth = app.get(Auth, { strict: false }).guard(scope.realm.guard);
  const tokens = await auth.startSession(user, { amr }, abilities);
  const { fid: familyId } = unverifiedClaims(tokens.accessToken) as { fid: string };
  const { userId } = tokens;
  const headers: Record<string, string> = { Authorization: `Bearer ${tokens.accessToken}` };
  if (confirmed)
    headers[scope.realm.options.confirm.header] = await scope.get(Confirmations).mint({ userId, familyId });
  return { ...tokens, familyId, headers };
}
