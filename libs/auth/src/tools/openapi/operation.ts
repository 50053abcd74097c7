import { HEADERS_METADATA, HTTP_CODE_METADATA, INTERCEPTORS_METADATA } from '@nestjs/common/constants';
import { ConfirmationGate } from '../../features/step-up/require-confirmation';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { Operation } from '../../foundation/platform/catalogue';
import type { RealmScope } from '../../foundation/realm/realm';
import { AuthenticationGate } from '../../request/gates/authenticated';
import { type MountedRoute } from '../../request/gates/library-routes';
import { operationOf } from '../../request/gates/request-log';
import { OriginGate } from '../../request/gates/origin.gate';
import { type RouteGate, routePlan } from '../../request/gates/route-plan';
import { CookieRemoval } from '../../request/http/refresh-cookie';
import { FIELD_MAX } from '../../request/http/request-body';
import { NO_SNIFFING, NO_STORE } from '../../request/http/route.interceptor';
import { ThrottleGate } from '../../request/throttling/limiters';
import { type Failures, type ResponseObject, json, routeFailures } from './failures';
import { type Answers, OPERATION_DOCS, type OperationDoc } from './operations';
import { requestBody } from './request-body';
import { type Schema, TEXT, UUID, header, of } from './schema';

type Requirement = Readonly<Record<string, readonly string[]>>;

const accessToken = (guard: string): string => `${guard}_access_token`;
const refreshCookie = (guard: string): string => `${guard}_refresh_cookie`;
const confirmation = (guard: string): string => `${guard}_confirmation`;

/** Security schemes of a guard, also for the host's routes: `@ApiSecurity('api_access_token')`. */
export const schemesOf = ({
  guard,
  cookieMode,
  refreshTokenFrom,
  cookie,
  confirm,
}: GuardConfig): Record<string, object> => ({
  [accessToken(guard)]: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: `An access token of the guard "${guard}".`,
  },
  [confirmation(guard)]: {
    type: 'apiKey',
    in: 'header',
    name: confirm.header,
    description: `A confirmation token of the same session, good for ${confirm.ttl} seconds.`,
  },
  ...((cookieMode || refreshTokenFrom === 'both') && {
    [refreshCookie(guard)]: { type: 'apiKey', in: 'cookie', name: cookie.refreshName, description: 'A refresh token.' },
  }),
});

/** Security requirements of these gates, as alternatives. Empty for a public route. */
export function security(
  { guard, cookieMode, refreshTokenFrom }: GuardConfig,
  gates: readonly RouteGate[],
  operation: Operation,
): Requirement[] {
  if (operation === 'refresh') {
    const cookie = { [refreshCookie(guard)]: [] };
    // Either the cookie or the refresh token in the body is required.
    if (refreshTokenFrom === 'both') return [cookie, {}];
    return cookieMode ? [cookie] : [];
  }
  if (!gates.includes(AuthenticationGate)) return [];
  const confirmed = gates.includes(ConfirmationGate);
  return [{ [accessToken(guard)]: [], ...(confirmed && { [confirmation(guard)]: [] }) }];
}

const CREDENTIAL_ID: Schema = { ...TEXT, maxLength: FIELD_MAX };

/** Every parameter of a path or a query. */
const PARAMETERS: Readonly<Record<string, Schema>> = {
  svcSession: of(UUID, 'The id of a session.'),
  svcKnownDevice: of(UUID, 'The id of a known device.'),
  svcDevice: of(UUID, 'The id of a trusted device.'),
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
  const described = OPERATION_DOCS[operation];
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
  { answer, answers }: OperationDoc,
  gates: readonly RouteGate[],
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
  200: 'Success.',
  201: 'Created. No session was started.',
  202: 'Accepted.',
  204: 'Success, without a body.',
  302: 'Success, with a redirect for browsers.',
};

function headersOf(handler: object, gates: readonly RouteGate[], { cookieMode }: GuardConfig) {
  const own: { name: string; value: string }[] = Reflect.getMetadata(HEADERS_METADATA, handler) ?? [];
  const forbidden = own.some(({ name }) => name === 'Cache-Control') ? [] : NO_STORE;
  const fixed = [...own.map(({ name, value }) => [name, value] as const), ...forbidden, NO_SNIFFING];
  const interceptors: unknown[] = Reflect.getMetadata(INTERCEPTORS_METADATA, handler) ?? [];
  // Routes with an origin gate deliver tokens, so they set the cookie.
  const touchesCookie = cookieMode && (gates.includes(OriginGate) || interceptors.includes(CookieRemoval));
  const varying = [
    ...(gates.includes(ThrottleGate) ? ['X-RateLimit-Limit', 'X-RateLimit-Remaining'] : []),
    ...(touchesCookie ? ['Set-Cookie'] : []),
  ];
  return Object.fromEntries([
    ...fixed.map(([name, value]) => [name, header(name, true, value)] as const),
    ...varying.map((name) => [name, header(name, false)] as const),
  ]);
}
