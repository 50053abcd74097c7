import { ConfirmationGate } from '../../features/step-up/require-confirmation';
import { RecentLoginGate } from '../../features/step-up/require-recent-login';
import { FactorGate } from '../../features/step-up/require-factor';
import {
  ConfirmationOfAnotherSession,
  ConfirmationRequired,
  FactorRequired,
  RecentLoginRequired,
} from '../../features/step-up/step-up.errors';
import type { RequiredFactor } from '../../features/step-up/step-up.policy';
import type { GuardConfig } from '../../foundation/config/auth-config';
import {
  type AuthException,
  StoreUnavailable,
  UNREADABLE,
  Unauthenticated,
  UnreadableRequest,
  ValidationFailed,
} from '../../foundation/platform/errors';
import { inEnglish } from '../../foundation/platform/messages';
import { InsufficientScope } from '../../request/abilities/ability.gate';
import { PinnedAbilityGate, type PinnedRequirement } from '../../features/sessions/pinned-ability.gate';
import { AuthenticationGate } from '../../request/gates/authenticated';
import type { MountedRoute } from '../../request/gates/library-routes';
import { CrossOriginRequest, OriginGate } from '../../request/gates/origin.gate';
import { type GateType, type RouteGate, detailOf, gateTypeOf } from '../../request/gates/route-plan';
import { ThrottleGate } from '../../request/throttling/limiters';
import { TooManyRequests } from '../../request/throttling/throttling.errors';
import { body } from './bodies';
import { type HeaderObject, type Schema, anyOf, header } from './schema';

/** An answer of an operation. */
export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export const json = (schema: Schema) => ({ 'application/json': { schema } });

/** Builds the error responses of operations from their exceptions. */
export class Failures {
  /** Responses with one cause, by name. Many operations refer to them. */
  readonly shared: Record<string, ResponseObject> = {};

  /** Every failure of an operation by status. */
  of(exceptions: readonly AuthException[]): Record<string, object> {
    const statuses = [...new Set(exceptions.map((exception) => exception.getStatus()))];
    const causesOf = (status: number) => exceptions.filter((exception) => exception.getStatus() === status);
    return Object.fromEntries(statuses.map((status) => [status, this.failure(causesOf(status))]));
  }

  private failure(causes: readonly AuthException[]): object {
    const response = responseOf(causes);
    if (causes.length > 1) return response;
    const name = `Auth${causes[0]!.name}${causes[0]!.getStatus()}`;
    const known = (this.shared[name] ??= response);
    // The texts of one exception may differ from guard to guard.
    return known.description === response.description ? { $ref: `#/components/responses/${name}` } : response;
  }
}

function responseOf(causes: readonly AuthException[]): ResponseObject {
  const names = [...new Set(causes.flatMap(({ headers }) => Object.keys(headers)))];
  const always = (name: string): boolean => causes.every(({ headers }) => name in headers);
  return {
    description: [...new Set(causes.map(textOf))].join(' Or: '),
    ...(names.length && { headers: Object.fromEntries(names.map((name) => [name, header(name, always(name))])) }),
    content: json(anyOf(causes.map(bodyOf))),
  };
}

/** The message text with its placeholders, because the parameters depend on the request. */
function textOf({ failure: { text, errors = {} } }: AuthException): string {
  const first = text ?? Object.values(errors)[0]![0]!;
  return typeof first === 'string' ? first : inEnglish(first.key, {}, first.english);
}

const bodyOf = ({ failure: { errors, reason } }: AuthException): Schema =>
  body(errors ? 'AuthErrors' : reason ? 'AuthReason' : 'AuthMessage');

type Refusals = (options: GuardConfig, detail: unknown) => AuthException[];

const OF_GATES = new Map<GateType, Refusals>([
  [
    OriginGate,
    ({ cookieMode, refreshTokenFrom }) => (cookieMode || refreshTokenFrom === 'both' ? [new CrossOriginRequest()] : []),
  ],
  [AuthenticationGate, () => [new Unauthenticated(true)]],
  [
    PinnedAbilityGate,
    ({ features }, detail) => {
      const { abilities, met, always } = detail as PinnedRequirement;
      return always || features.gateAuthRoutes ? [new InsufficientScope(abilities, met)] : [];
    },
  ],
  [FactorGate, (_, detail) => [new FactorRequired(detail as RequiredFactor)]],
  [ThrottleGate, () => [new TooManyRequests({ limit: 1, remaining: 0, retryAfter: 1 }, 0)]],
  [RecentLoginGate, (_, detail) => [new RecentLoginRequired(detail as number)]],
  [
    ConfirmationGate,
    ({ confirm }) => [new ConfirmationRequired(confirm, []), new ConfirmationOfAnotherSession(confirm, [])],
  ],
]);

/** The exceptions that the gates of a route throw, and those for an unreadable or invalid request. */
export function routeFailures(
  route: MountedRoute,
  gates: readonly RouteGate[],
  options: GuardConfig,
  readsBody: boolean,
): AuthException[] {
  const takesBody = !['GET', 'HEAD'].includes(route.method);
  // An invalid percent-encoding in the path also makes a request unreadable.
  const unreadable = takesBody ? UNREADABLE : UNREADABLE.slice(0, route.path.includes(':') ? 1 : 0);
  return [
    ...unreadable.map((outcome) => new UnreadableRequest(outcome)),
    ...gates.flatMap((gate) => OF_GATES.get(gateTypeOf(gate))!(options, detailOf(gate))),
    ...(readsBody ? [new ValidationFailed({ field: [{ key: 'validation.invalid' }] })] : []),
    ...(gates.length ? [new StoreUnavailable('A store')] : []),
  ];
}
