import { HEADERS_METADATA, HTTP_CODE_METADATA, INTERCEPTORS_METADATA } from '@nestjs/common/constants';
import type { GuardConfig } from '../config/auth-config';
import { FIELD_MAX } from '../http/fields';
import type { GateType } from '../http/gate';
import { operationOf } from '../http/mounted-operation';
import type { MountedRoute } from '../http/mounted-routes';
import { OriginGate } from '../http/origin.gate';
import { routePlan } from '../http/route-plan';
import { CookieRemoval } from '../http/session-end';
import type { RealmScope } from '../realm/realm';
import { ThrottleGate } from '../throttling/throttle.gate';
import { type Answers, DESCRIBED, type Described } from './described';
import { type Failures, type ResponseObject, json } from './failures';
import { header } from './headers';
import { requestBody } from './request-body';
import { routeFailures } from './route-failures';
import { type Schema, TEXT, UUID, of } from './schema';
import { security } from './security';

const CREDENTIAL_ID: Schema = { ...TEXT, maxLength: FIELD_MAX };

/** Every parameter of a path or a query. */
const PARAMETERS: Readonly<Record<string, Schema>> = {
  svcSession: of(UUID, 'The id of a session.'),
  svcPasskey: of(CREDENTIAL_ID, 'The id of a passkey.'),
  id: of(TEXT, 'As the mailed link has it.'),
  hash: of(TEXT, 'As the mailed link has it.'),
  expires: of(TEXT, 'As the mailed link has it.'),
  signature: of(TEXT, 'As the mailed link has it.'),
};

/** Describes one mounted route as an Operation Object (OpenAPI §4.8.10). */
export function operationObject(route: MountedRoute, scope: RealmScope, failures: Failures): object {
  const { options } = scope.realm;
  const operation = operationOf(route.controller, route.handler)!;
  const described = DESCRIBED[operation];
  const { gates } = routePlan(route.controller, route.handler);
  const body = requestBody(route, scope);
  const refusals = [
    ...routeFailures(route, gates, options, body !== null && operation !== 'refresh'),
    ...(described.refusals?.(options) ?? []),
  ];
  const parameters = parametersOf(route);
  return {
    operationId: `${route.guard}_${operation}`,
    summary: described.summary,
    tags: [tagOf(options)],
    security: security(options, gates, operation),
    ...(parameters.length && { parameters }),
    ...(body && { requestBody: { required: 'required' in body, content: json(body) } }),
    responses: { ...successes(route, described, gates, options), ...failures.of(refusals) },
  };
}

export const tagOf = ({ guard, isDefault }: GuardConfig): string =>
  isDefault ? 'Authentication' : `Authentication: ${guard}`;

function parametersOf({ path }: MountedRoute): object[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const query = names.includes('hash') ? ['expires', 'signature'] : [];
  const parameter = (name: string, place: string) => {
    const { description, ...schema } = PARAMETERS[name]!;
    return { name, in: place, required: true, description, schema };
  };
  return [...names.map((name) => parameter(name, 'path')), ...query.map((name) => parameter(name, 'query'))];
}

function successes(
  route: MountedRoute,
  { answer, answers }: Described,
  gates: readonly GateType[],
  options: GuardConfig,
): Record<string, ResponseObject> {
  const status: number = Reflect.getMetadata(HTTP_CODE_METADATA, route.handler) ?? 200;
  const schema = typeof answer === 'function' ? answer(options) : (answer ?? null);
  const all: Answers = answers?.(options) ?? { [status]: schema };
  const headers = headersOf(route.handler, gates, options);
  const response = (code: string, body: Schema | null): ResponseObject => ({
    description: DESCRIPTIONS[code]!,
    headers: { ...headers, ...(code === '302' && { Location: header('Location', true) }) },
    ...(body && { content: json(body) }),
  });
  return Object.fromEntries(Object.entries(all).map(([code, body]) => [code, response(code, body)]));
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'It is done.',
  201: 'It is created, and nobody is signed in.',
  202: 'It will be done.',
  204: 'It is done; there is nothing to say.',
  302: 'It is done; a browser is sent on.',
};

function headersOf(handler: object, gates: readonly GateType[], { cookieMode }: GuardConfig) {
  const fixed: { name: string; value: string }[] = Reflect.getMetadata(HEADERS_METADATA, handler) ?? [];
  const interceptors: unknown[] = Reflect.getMetadata(INTERCEPTORS_METADATA, handler) ?? [];
  // The origin is asked for where tokens are delivered.
  const touchesCookie = cookieMode && (gates.includes(OriginGate) || interceptors.includes(CookieRemoval));
  const varying = [
    ...(gates.includes(ThrottleGate) ? ['X-RateLimit-Limit', 'X-RateLimit-Remaining'] : []),
    ...(touchesCookie ? ['Set-Cookie'] : []),
  ];
  return Object.fromEntries([
    ...fixed.map(({ name, value }) => [name, header(name, true, value)] as const),
    ...varying.map((name) => [name, header(name, false)] as const),
  ]);
}
