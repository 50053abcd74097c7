import { type ExecutionContext, Injectable, applyDecorators, createParamDecorator } from '@nestjs/common';
import { type AuthException, Unauthenticated } from '../../foundation/platform/errors';
import { GuardName } from '../../foundation/realm/feature';
import { PublicRoute } from '../../foundation/realm/route';
import { Authenticator } from '../../identity/tokens/authenticator';
import { type Caller, callerOf } from '../../identity/tokens/caller';
import { requestOf, RouteGuard, requires } from './route-guard';
import { type Gate, Gates } from './route-plan';

type AuthenticatedRequest = Parameters<Authenticator['authenticate']>[0] & { user?: object };

/** Authenticates the request with a valid access token of the route's guard. */
@Injectable()
export class AuthenticationGate implements Gate {
  static readonly stage = 'authentication';
  static readonly refusals = (): AuthException[] => [new Unauthenticated(true)];

  constructor(private readonly authenticator: Authenticator) {}

  async check(_context: ExecutionContext, request: AuthenticatedRequest): Promise<void> {
    request.user = (await this.authenticator.authenticate(request)).user;
  }
}

/**
 * Nest guard that requires a valid access token. With `{ provide: APP_GUARD, useExisting: AccessTokenGuard }` every
 * route of the host requires a token, unless it is `@Public()`. On a handler, `@UseGuards(AccessTokenGuard)` also guards
 * it when its class is `@Public()`.
 *
 * @publicApi
 */
@Injectable()
@Gates.with(AuthenticationGate)
export class AccessTokenGuard extends RouteGuard {}

/**
 * Requires a valid access token: the response is 401 without one, and 503 while revocation cannot be checked.
 *
 * @param guard name of the guard whose tokens are accepted; the default guard when omitted
 * @example \@Authenticated()
 * \@Controller('orders')
 * export class OrdersController {}
 * @publicApi
 */
export const Authenticated = (guard?: string): ClassDecorator & MethodDecorator =>
  guard === undefined ? requires(AuthenticationGate) : applyDecorators(GuardName(guard), requires(AuthenticationGate));

/**
 * Opens a route or a controller to requests without a token, although the controller or a global `AccessTokenGuard`
 * requires one. A token in the request is not checked.
 *
 * @publicApi
 */
export const Public = (): ClassDecorator & MethodDecorator => PublicRoute(true);

/**
 * Injects the user of the request, as the guard's `UserProvider` returned it; undefined without authentication.
 *
 * @publicApi
 */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): object | undefined => {
  return callerOf(requestOf(context) ?? {})?.user;
});

/**
 * Injects the {@link Caller} of the request (user, guard, session, abilities and claims); undefined without
 * authentication.
 *
 * @publicApi
 */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller | undefined => {
  return callerOf(requestOf(context) ?? {});
});
