import type { GuardConfig } from '../../foundation/config/auth-config';
import {
  type AuthException,
  type FailureBody,
  StoreUnavailable,
  UNREADABLE,
  UnreadableRequest,
  ValidationFailed,
} from '../../foundation/platform/errors';
import { inEnglish } from '../../foundation/platform/messages';
import { INTEGER, type Schema, TEXT, anyOf, listOf, namedSchema, of, record } from '../../foundation/platform/schema';
import type { MountedRoute } from '../../request/gates/library-routes';
import { type RouteGate, detailOf, gateTypeOf } from '../../request/gates/route-plan';

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
  if (typeof first === 'string') return first;
  return 'code' in first ? first.text : inEnglish(first.key, {}, first.english);
}

const MESSAGE = namedSchema('AuthMessage', record<Pick<FailureBody, 'message'>>({ message: TEXT }));
const REASON = namedSchema(
  'AuthReason',
  record<Pick<FailureBody, 'message' | 'reason'>>({ message: TEXT, reason: TEXT }),
);
const ERRORS = namedSchema(
  'AuthErrors',
  record<FailureBody>(
    {
      message: of(TEXT, 'The first of the errors, and how many more there are.'),
      errors: of({ type: 'object', additionalProperties: listOf(TEXT) }, 'Texts by request field.'),
      reason: of(TEXT, 'What a page can act on, where the texts do not say it.'),
    },
    ['reason'],
  ),
);

const bodyOf = ({ failure: { errors, reason } }: AuthException): Schema =>
  errors ? ERRORS : reason ? REASON : MESSAGE;

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
    ...gates.flatMap((gate) => gateTypeOf(gate).refusals?.(options, detailOf(gate)) ?? []),
    ...(readsBody ? [new ValidationFailed({ field: [{ key: 'validation.invalid' }] })] : []),
    ...(gates.length ? [new StoreUnavailable('A store')] : []),
  ];
}

/** A response header. */
export interface HeaderObject {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

const KNOWN: Readonly<Record<string, Schema>> = {
  'Retry-After': of(INTEGER, 'Seconds to wait.'),
  'WWW-Authenticate': of(TEXT, 'What the bearer credential lacks (RFC 6750, RFC 9470).'),
  'X-RateLimit-Limit': of(INTEGER, 'Requests that the tightest limit allows in its window.'),
  'X-RateLimit-Remaining': of(INTEGER, 'Requests it has left.'),
  'X-RateLimit-Reset': of(INTEGER, 'When it has room again, in unix seconds.'),
  'X-Svc-Error-Codes': of(
    TEXT,
    'The code of each text by field, in the order of the texts, as application/x-www-form-urlencoded: `email=validation.required`.',
  ),
  'Set-Cookie': of(TEXT, 'The refresh cookie: set with new tokens, removed with its session.'),
  Location: of(TEXT, 'The page of the application that takes over.'),
};

/** A header by its name. @param value its value, if it is constant */
export function header(name: string, required: boolean, value?: string): HeaderObject {
  const { description, ...schema } = KNOWN[name] ?? TEXT;
  return {
    ...(typeof description === 'string' && { description }),
    ...(required && { required }),
    schema: value === undefined ? schema : { ...schema, enum: [value] },
  };
}
