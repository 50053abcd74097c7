import { type ExecutionContext, Injectable, applyDecorators, createParamDecorator } from '@nestjs/common';
import { GuardName, PublicRoute } from '../../foundation/realm/feature';
import { Authenticator } from '../../identity/tokens/authenticator';
import { type Caller, callerOf } from '../../identity/tokens/caller';
import { requestOf, RouteGuard, requires } from './route-guard';
import type { Gate } from './route-plan';

type AuthenticatedRequest = Parameters<Authenticator['authenticate']>[0] & { user?: object };

/** Requires a valid access token of the route's guard. */
@Injectable()
export class AuthenticationGate implements Gate {
  static readonly stage = 'authentication';

  constructor(private readonly authenticator: Authenticator) {}

  async check(_context: ExecutionContext, request: AuthenticatedRequest): Promise<void> {
    request.user = (await this.authenticator.authenticate(request)).user;
  }
}

/**
 * The guard as a class: with `{ provide: APP_GUARD, useExisting: AccessTokenGuard }` every route of the
 * host needs a token, unless it is `@Public()`.
 *
 * @publicApi
 */
@Injectable()
export class AccessTokenGuard extends RouteGuard {
  /** `@UseGuards(AccessTokenGuard)` guards where it stands, also below a `@Public()` class. */
  static readonly closes = true;
  protected override readonly always = [AuthenticationGate];
}

/**
 * Requires a valid access token: 401 without one, 503 while revocation cannot be checked.
 *
 * @param guard name of the guard whose tokens are accepted; the default guard when left out
 * @example \@Authenticated()
 * \@Controller('orders')
 * export class OrdersController {}
 * @publicApi
 */
export const Authenticated = (guard?: string): ClassDecorator & MethodDecorator =>
  guard === undefined ? requires(AuthenticationGate) : applyDecorators(GuardName(guard), requires(AuthenticationGate));

/**
 * Lets everyone in, where the controller or a global `AccessTokenGuard` would not. Costs no look-up.
 *
 * @publicApi
 */
export const Public = (): ClassDecorator & MethodDecorator => PublicRoute(true);

/**
 * The user of the request, as the guard's provider returned it.
 *
 * @publicApi
 */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): object | undefined => {
  return callerOf(requestOf(context) ?? {})?.user;
});

/**
 * The {@link Caller} of the request: user, guard, session, abilities and claims.
 *
 * @publicApi
 */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller | undefined => {
  return callerOf(requestOf(context) ?? {});
});
