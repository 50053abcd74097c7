import { type ExecutionContext, applyDecorators, createParamDecorator } from '@nestjs/common';
import { type Caller, callerOf } from '../tokens/caller';
import { AuthenticationGate } from './authentication.gate';
import { requestOf } from './request-of';
import { requires } from './requires';
import { GuardName, PublicRoute } from '../realm/route-metadata';

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
