import type { Type } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { FLAG, type Schema, TEXT, objectOf, of } from '../../foundation/platform/schema';
import type { Feature } from '../../foundation/realm/feature';
import type { RealmScope } from '../../foundation/realm/realm';
import {
  type FieldRule,
  NewPasswordRequest,
  argumentsOf,
  bodyClassOf,
  rulesOf,
  wireName,
} from '../../request/http/request-body';
import type { MountedRoute } from '../../request/gates/library-routes';
import { declarationOf } from '../../request/gates/request-log';
import { RefreshTokenPipe } from '../../request/http/cookies';

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
