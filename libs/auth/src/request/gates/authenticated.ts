import { type ExecutionContext, Injectable, applyDecorators, createParamDecorator } from '@nestjs/common';
import { type AuthException, Unauthenticated } from '../../foundation/platform/errors';
import { GuardName } from '../../foundation/realm/feature';
import { PublicRoute } from '../../foundation/realm/route';
import { Authenticator } from '../../identity/tokens/authenticator';
import { type Caller, callerOf } from '../../identity/tokens/caller';
import { passedBy, requestOf, RouteGuard, requires } from './route-guard';
import { type Gate, Gates } from './route-plan';

export type AuthenticatedRequest = Parameters<Authenticator['authenticate']>[0] & { user?: object };

/** Authenticates the request with a valid access token of the route's guard. */
@Injectable()
export class AuthenticationGate implements Gate {
  static readonly stage = 'authentication';
  static readonly refusals = (): AuthException[] => [new Unauthenticated(true)];

  constructor(private readonly authenticator: Authenticator) {}

  async check(context: ExecutionContext, request: AuthenticatedRequest): Promise<void> {
    request.user = (await this.authenticator.authenticate(request, passedBy(context))).user;
  }
}

/** Authenticates the request if it has an `Authorization` header. */
@Injectable()
export class OptionalAuthenticationGate implements Gate {
  static readonly stage = 'authentication';
  static readonly public = true;
  static readonly optional = true;

  constructor(private readonly authenticator: Authenticator) {}

  async check(_context: ExecutionContext, request: AuthenticatedRequest): Promise<void> {
    request.user = (await this.authenticator.authenticateIfAsked(request))?.user;
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
 * With `optional`, a request without an `Authorization` header passes without a user. A header that is not accepted, as of an
 * ended session or of another scheme, is still refused with 401, and a token that cannot be checked with 503. On a handler it
 * replaces the requirement of its controller and of a global `AccessTokenGuard`. A route with another requirement of a user, such
 * as abilities, is refused at the start.
 *
 * @param of name of the guard whose tokens are accepted, or `guard` and `optional`; the default guard when omitted
 * @example \@Authenticated()
 * \@Controller('orders')
 * export class OrdersController {
 *   \@Get('catalogue')
 *   \@Authenticated({ optional: true })
 *   catalogue(\@CurrentUser() user?: User) {}
 * }
 * @publicApi
 */
export const Authenticated = (
  of: string | { readonly guard?: string; readonly optional?: boolean } = {},
): ClassDecorator & MethodDecorator => {
  const { guard, optional } = typeof of === 'string' ? { guard: of, optional: false } : of;
  const required = optional
    ? [PublicRoute(true), requires(OptionalAuthenticationGate)]
    : [requires(AuthenticationGate)];
  return applyDecorators(...(guard === undefined ? [] : [GuardName(guard)]), ...required);
};

/**
 * Opens a route or a controller to requests without a token, although the controller or a global `AccessTokenGuard`
 * requires one. A token in the request is not checked: see the option `optional` of {@link Authenticated}.
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
