import { HEADERS_METADATA, HTTP_CODE_METADATA } from '@nestjs/common/constants';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { AuthException } from '../../foundation/platform/errors';
import { type Schema, FLAG, TEXT, objectOf, of } from '../../foundation/platform/schema';
import type { Feature } from '../../foundation/realm/feature';
import type { RealmScope } from '../../foundation/realm/realm';
import type { Answers, Refusal } from '../../foundation/realm/route';
import type { MountedRoute } from '../../request/gates/library-routes';
import { declarationOf } from '../../request/gates/request-log';
import { OriginGate } from '../../request/gates/sender.gate';
import { type RouteGate, routePlan } from '../../request/gates/route-plan';
import { CookieRemoval, RefreshTokenPipe } from '../../request/http/cookies';
import { NO_SNIFFING, NO_STORE } from '../../request/http/route-answer';
import { ThrottleGate } from '../../request/throttling/limiters';
import { type Failures, type HeaderObject, type ResponseObject, header, json, routeFailures } from './failures';
import type { Type } from '@nestjs/common';
import {
  type FieldRule,
  NewPasswordRequest,
  argumentsOf,
  bodyClassOf,
  rulesOf,
  wireName,
} from '../../request/http/request-body';

type Requirement = Readonly<Record<string, readonly string[]>>;

const accessToken = (guard: string): string => `${guard}_access_token`;
const accessKey = (guard: string): string => `${guard}_access_key`;
const refreshCookie = (guard: string): string => `${guard}_refresh_cookie`;
const confirmation = (guard: string): string => `${guard}_confirmation`;

/** Security schemes of a guard, also for the host's routes: `@ApiSecurity('api_access_token')`, and `'api_access_key'` with `@AcceptsKeys()`. */
export const schemesOf = ({ guard, confirm, cookie, ...options }: GuardConfig): Record<string, object> => ({
  [accessToken(guard)]: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: `An access token of the guard "${guard}".`,
  },
  ...(options.features.accessKeys && {
    [accessKey(guard)]: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: `${options.accessKeys.prefix}_{id}_{secret}`,
      description: `An access key of the guard "${guard}": the prefix, an id of 32 and a secret with a checksum of 72 hex characters.`,
    },
  }),
  [confirmation(guard)]: {
    type: 'apiKey',
    in: 'header',
    name: confirm.header,
    description: `A confirmation token of the same session, good for ${confirm.ttl} seconds.`,
  },
  ...((options.cookieMode || options.refreshTokenFrom === 'both') && {
    [refreshCookie(guard)]: { type: 'apiKey', in: 'cookie', name: cookie.refreshName, description: 'A refresh token.' },
  }),
});

/** Security requirements of these gates, as alternatives. Empty for a public route. */
function security(
  { guard, cookieMode, refreshTokenFrom }: GuardConfig,
  gates: readonly RouteGate[],
  ofRefresh: boolean,
): Requirement[] {
  if (ofRefresh) {
    const cookie = { [refreshCookie(guard)]: [] };
    // Either the cookie or the refresh token in the body is required.
    if (refreshTokenFrom === 'both') return [cookie, {}];
    return cookieMode ? [cookie] : [];
  }
  if (!gates.some(({ stage }) => stage === 'authentication')) return [];
  const confirmed = gates.some(({ stage }) => stage === 'confirmation');
  return [{ [accessToken(guard)]: [], ...(confirmed && { [confirmation(guard)]: [] }) }];
}

const isException = (refusal: Refusal): refusal is new () => AuthException =>
  refusal.prototype instanceof AuthException;

/** Describes one mounted route as an Operation Object (OpenAPI §4.8.10). */
export function operationObject(
  route: MountedRoute,
  scope: RealmScope,
  failures: Failures,
  manifests: readonly Feature[],
): object {
  const { options } = scope.realm;
  const declared = declarationOf(route.handler)!;
  const { answer = null, answers } = declared;
  const { gates } = routePlan(route.controller, route.handler);
  const status: number = Reflect.getMetadata(HTTP_CODE_METADATA, route.handler) ?? 200;
  const successes: Answers = answers?.(options, manifests) ?? {
    [status]: typeof answer === 'function' ? answer(options, manifests) : answer,
  };
  const headers = headersOf(route.handler, gates, options);
  const body = requestBody(route, scope, manifests);
  const ofRefresh = readsRefreshToken(route);
  const refusals = [
    ...routeFailures(route, gates, options, body !== null && !ofRefresh),
    ...(declared.refusals ?? []).flatMap((refusal) =>
      isException(refusal) ? new refusal() : refusal(options, manifests, scope),
    ),
  ];
  const parameters = Object.entries(declared.parameters ?? {}).map(([name, { description, ...schema }]) => {
    const place = route.path.includes(`:${name}`) ? 'path' : 'query';
    return { name, in: place, required: !declared.optionalParameters?.includes(name), description, schema };
  });
  return {
    operationId: `${route.guard}_${declared.operation}`,
    summary: declared.summary,
    tags: [tagOf(options)],
    security: security(options, gates, ofRefresh),
    ...(parameters.length && { parameters }),
    ...(body && { requestBody: { required: 'required' in body, content: json(body) } }),
    responses: {
      ...Object.fromEntries(Object.entries(successes).map(([code, schema]) => [code, success(code, schema, headers)])),
      ...failures.of(refusals),
    },
  };
}

export const tagOf = ({ guard, isDefault }: GuardConfig): string =>
  isDefault ? 'Authentication' : `Authentication: ${guard}`;

const success = (
  code: string,
  body: Schema | null,
  headers: Readonly<Record<string, HeaderObject>>,
): ResponseObject => ({
  description: DESCRIPTIONS[code]!,
  headers: { ...headers, ...(code.startsWith('30') && { Location: header('Location', true) }) },
  ...(body && { content: json(body) }),
});

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'Success.',
  201: 'Created. No session was started.',
  202: 'Accepted.',
  204: 'Success, without a body.',
  302: 'Success, with a redirect for browsers.',
  303: 'Success, with a redirect to a page.',
};

function headersOf(handler: object, gates: readonly RouteGate[], { cookieMode }: GuardConfig) {
  const own: { name: string; value: string }[] = Reflect.getMetadata(HEADERS_METADATA, handler) ?? [];
  const forbidden = own.some(({ name }) => name === 'Cache-Control') ? [] : NO_STORE;
  const fixed = [...own.map(({ name, value }) => [name, value] as const), ...forbidden, NO_SNIFFING];
  // Routes with an origin gate deliver tokens, so they set the cookie.
  const touchesCookie =
    cookieMode && (gates.includes(OriginGate) || declarationOf(handler)?.steps?.includes(CookieRemoval));
  const varying = [
    ...(gates.includes(ThrottleGate) ? ['X-RateLimit-Limit', 'X-RateLimit-Remaining'] : []),
    ...(touchesCookie ? ['Set-Cookie'] : []),
  ];
  return Object.fromEntries([
    ...fixed.map(([name, value]) => [name, header(name, true, value)] as const),
    ...varying.map((name) => [name, header(name, false)] as const),
  ]);
}

/** The schema of a route's request body; null if the route reads no body. */
export function requestBody(route: MountedRoute, scope: RealmScope, manifests: readonly Feature[]): Schema | null {
  const { options } = scope.realm;
  const { body, remembers } = declarationOf(route.handler)!;
  const request = bodyClassOf(route.controller, route.name);
  const declared = request
    ? fieldsOf(request, options, manifests)
    : readsRefreshToken(route)
      ? refreshToken(options)
      : null;
  const whole = body ? body(scope, declared) : declared;
  return whole && remembers ? withRemember(whole, options) : whole;
}

/** Whether the credential of a route is a refresh token. */
export const readsRefreshToken = ({ controller, name }: MountedRoute): boolean =>
  argumentsOf(controller, name).some(([, { pipes }]) => pipes?.includes(RefreshTokenPipe));

const REMEMBER = of(FLAG, 'Whether the session outlives the browser. True if it is missing.');

/** The body with the field `remember`, where a sign-in reads it. */
function withRemember(body: Schema, { sessions }: GuardConfig): Schema {
  if (sessions.ttlWithoutRemember === 0 || !body.properties) return body;
  return { ...body, properties: { ...body.properties, remember: REMEMBER } };
}

/** In cookie mode there is no body. With `refreshTokenFrom: 'both'`, `refresh_token` is optional. */
const refreshToken = ({ cookieMode, refreshTokenFrom }: GuardConfig): Schema | null =>
  cookieMode && refreshTokenFrom === 'mode'
    ? null
    : objectOf({ refresh_token: TEXT }, () => refreshTokenFrom === 'mode');

function fieldsOf(request: Type, { username, passwords }: GuardConfig, manifests: readonly Feature[]): Schema {
  const choosesPassword = request.prototype instanceof NewPasswordRequest;
  const rules = new Map(
    [...rulesOf(request, manifests)].map(([field, rule]) => [wireName(request, field, username), rule]),
  );
  const schemas = Object.fromEntries([...rules].map(([field, rule]) => [field, schemaOf(rule)]));
  if (choosesPassword) schemas.password = { ...schemas.password, minLength: passwords.minLength };
  const confirms = (field: string): boolean => choosesPassword && field === 'password_confirmation';
  return objectOf(schemas, (field) => rules.get(field)!.required === true || confirms(field));
}

const schemaOf = ({ type, maxLength, email }: FieldRule): Schema => ({
  type,
  ...(type === 'array' && { items: TEXT }),
  ...(maxLength !== undefined && { maxLength }),
  ...(email && { format: 'email' }),
});
