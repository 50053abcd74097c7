import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { Operation } from '../../foundation/platform/catalogue';
import {
  FIELD_MAX,
  type FieldRule,
  ITEMS_MAX,
  NewPasswordRequest,
  rulesOf,
  wireName,
} from '../../request/http/request-body';
import { operationOf } from '../../request/gates/request-log';
import type { MountedRoute } from '../../request/gates/library-routes';
import { RefreshTokenPipe } from '../../request/http/refresh-cookie';
import type { RealmScope } from '../../foundation/realm/realm';
import { PasskeyRegistrationController, RegisterController } from '../../features/registration/registration.controller';
import { RegistrationForm } from '../../features/registration/registration-form';
import type { RegistrationField, RegistrationRules } from '../../foundation/ports/registration-rules';
import { FLAG, OBJECT, type Schema, TEXT, listOf, of } from './schema';

const ANY: Schema = of(OBJECT, 'As hooks.registerRules says for each request.');

/** The schema of a route's request body; null if the route reads no body. */
export function requestBody({ controller, name, handler }: MountedRoute, scope: RealmScope): Schema | null {
  const { options } = scope.realm;
  const operation = operationOf(controller, handler);
  const pipes = pipesOf(controller, name);
  const request = pipes.find((pipe) => pipe.request)?.request;
  if (controller.prototype instanceof PasskeyRegistrationController)
    return withRemember(operation, passkeyRegistration(scope, request && fieldsOf(request, options)), options);
  if (request) return withRemember(operation, fieldsOf(request, options), options);
  if (pipes.includes(RefreshTokenPipe)) return refreshToken(options);
  return controller.prototype instanceof RegisterController
    ? withRemember(operation, registration(scope), options)
    : null;
}

const SIGN_INS: ReadonlySet<Operation | undefined> = new Set([
  'login',
  'passkey_login',
  'email_code_login',
  'register',
  'register_passkey',
]);
const REMEMBER = of(FLAG, 'Whether the session outlives the browser. True if it is missing.');

/** The body with the field `remember`, where a sign-in reads it. */
function withRemember(operation: Operation | undefined, body: Schema, { sessions }: GuardConfig): Schema {
  if (!SIGN_INS.has(operation) || sessions.ttlWithoutRemember === 0 || !body.properties) return body;
  return { ...body, properties: { ...body.properties, remember: REMEMBER } };
}

function pipesOf(controller: Type, name: string): (Type & { request?: Type })[] {
  const args: Record<string, { pipes?: Type[] }> = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {};
  return Object.values(args).flatMap(({ pipes = [] }) => pipes);
}

/** In cookie mode there is no body. With `refreshTokenFrom: 'both'`, `refresh_token` is optional. */
const refreshToken = ({ cookieMode, refreshTokenFrom }: GuardConfig): Schema | null =>
  cookieMode && refreshTokenFrom === 'mode' ? null : fields({ refresh_token: TEXT }, () => refreshTokenFrom === 'mode');

function fieldsOf(request: Type, { username, passwords }: GuardConfig): Schema {
  const choosesPassword = request.prototype instanceof NewPasswordRequest;
  const rules = new Map([...rulesOf(request)].map(([field, rule]) => [wireName(request, field, username), rule]));
  const schemas = Object.fromEntries([...rules].map(([field, rule]) => [field, schemaOf(rule)]));
  if (choosesPassword) schemas.password = { ...schemas.password, minLength: passwords.minLength };
  const confirms = (field: string): boolean => choosesPassword && field === 'password_confirmation';
  return fields(schemas, (field) => rules.get(field)!.required === true || confirms(field));
}

const schemaOf = ({ type, maxLength, email }: FieldRule): Schema => ({
  type,
  ...(maxLength !== undefined && { maxLength }),
  ...(email && { format: 'email' }),
});

/** The fields of the registration without the password, beside the answer of the authenticator. */
function passkeyRegistration(scope: RealmScope, answer: Schema | undefined): Schema {
  const own = registration(scope);
  if (own === ANY) return ANY;
  const { password: _, password_confirmation: __, ...properties } = own.properties as Record<string, Schema>;
  const all = { ...properties, ...(answer?.properties as Record<string, Schema> | undefined) };
  const required = [...((own.required as string[]) ?? []), ...((answer?.required as string[] | undefined) ?? [])];
  return fields(all, (field) => required.includes(field));
}

function registration(scope: RealmScope): Schema {
  let rules: RegistrationRules;
  try {
    rules = scope.get(RegistrationForm).rules({});
  } catch {
    // Rules that depend on the request are unknown here.
    return ANY;
  }
  const schemas = Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, fieldOf(rule)]));
  if (!rules.password) return fields(schemas, (name) => !rules[name]!.optional);
  const { minLength } = scope.realm.options.passwords;
  schemas.password = { ...schemas.password, minLength };
  return fields({ ...schemas, password_confirmation: schemas.password }, (name) => !rules[name]?.optional);
}

/** @param above the rules that contain this one. Rules that contain themselves are described once */
function fieldOf(rule: RegistrationField, above: readonly RegistrationField[] = []): Schema {
  const { type = 'string', maxLength = FIELD_MAX, email = false, fields: own = {}, items = {}, maxItems } = rule;
  const below = (part: RegistrationField): Schema => fieldOf(part, [...above, rule]);
  if (above.includes(rule)) return type === 'array' ? listOf({}) : OBJECT;
  if (type === 'array') return { ...listOf(below(items)), ...limit('maxItems', maxItems ?? ITEMS_MAX) };
  if (type === 'object') {
    const schemas = Object.fromEntries(Object.entries(own).map(([name, part]) => [name, below(part)]));
    return fields(schemas, (name) => !own[name]!.optional);
  }
  return { type, ...(type === 'string' && limit('maxLength', maxLength)), ...(email && { format: 'email' }) };
}

/** A limit, if there is one: a class of the host may have none. */
const limit = (name: string, max: number): Schema => (Number.isFinite(max) ? { [name]: max } : {});

function fields(properties: Record<string, Schema>, isRequired: (field: string) => boolean): Schema {
  const required = Object.keys(properties).filter(isRequired);
  return { type: 'object', ...(required.length && { required }), properties };
}
