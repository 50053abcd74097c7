import { InsufficientScope } from '../abilities/insufficient-scope.exception';
import { PinnedAbilityGate, PinnedRequirements } from '../abilities/pinned-ability.gate';
import type { GuardConfig } from '../config/auth-config';
import { ConfirmationOfAnotherSession, ConfirmationRequired } from '../confirmation/confirmation-required.exception';
import { ConfirmationGate } from '../confirmation/confirmation.gate';
import { AuthenticationGate } from '../http/authentication.gate';
import { ForeignPage } from '../http/foreign-page.exception';
import type { GateType } from '../http/gate';
import type { MountedRoute } from '../http/mounted-routes';
import { OriginGate } from '../http/origin.gate';
import { UnreadableRequest } from '../http/unreadable.exception';
import { UNREADABLE } from '../http/unreadable.policy';
import { type AuthException, StoreUnavailable, Unauthenticated, ValidationFailed } from '../kernel/auth.exception';
import { ThrottleGate } from '../throttling/throttle.gate';
import { TooManyRequests } from '../throttling/too-many-requests.exception';

type Refusals = (options: GuardConfig, route: MountedRoute) => AuthException[];

const OF_GATES = new Map<GateType, Refusals>([
  [OriginGate, ({ cookieMode }) => (cookieMode ? [new ForeignPage()] : [])],
  [AuthenticationGate, () => [new Unauthenticated(true)]],
  [
    PinnedAbilityGate,
    ({ features }, { controller, handler }) =>
      PinnedRequirements.of(controller, handler)
        .filter(({ always }) => always || features.gateAuthRoutes)
        .map(({ abilities, met }) => new InsufficientScope(abilities, met)),
  ],
  [ThrottleGate, () => [new TooManyRequests({ limit: 1, remaining: 0, retryAfter: 1 }, 0)]],
  [ConfirmationGate, ({ confirm }) => [new ConfirmationRequired(confirm.ttl), new ConfirmationOfAnotherSession()]],
]);

/** What stands before a route refuses, and reading its request does. */
export function routeFailures(
  route: MountedRoute,
  gates: readonly GateType[],
  options: GuardConfig,
  readsBody: boolean,
): AuthException[] {
  const takesBody = !['GET', 'HEAD'].includes(route.method);
  // A broken escape in the path is unreadable, too.
  const unreadable = takesBody ? UNREADABLE : UNREADABLE.slice(0, route.path.includes(':') ? 1 : 0);
  return [
    ...unreadable.map((outcome) => new UnreadableRequest(outcome)),
    ...gates.flatMap((gate) => OF_GATES.get(gate)!(options, route)),
    ...(readsBody ? [new ValidationFailed({ field: [{ key: 'validation.invalid' }] })] : []),
    ...(gates.length ? [new StoreUnavailable('A store')] : []),
  ];
}
