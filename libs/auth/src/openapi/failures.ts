import type { AuthException } from '../kernel/auth.exception';
import { MESSAGES } from '../kernel/messages';
import { body } from './answers';
import { type HeaderObject, header } from './headers';
import { type Schema, anyOf } from './schema';

/** An answer of an operation. */
export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export const json = (schema: Schema) => ({ 'application/json': { schema } });

/** Failures as answers, each told by the exceptions that are thrown for it. */
export class Failures {
  /** Those with one cause, by name: many operations have them. */
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

/** The text as it stands before it is filled: what is filled in is of one request. */
function textOf({ failure: { text, errors = {} } }: AuthException): string {
  return MESSAGES[(text ?? Object.values(errors)[0]![0]!).key];
}

const bodyOf = ({ failure: { errors, reason } }: AuthException): Schema =>
  body(errors ? 'AuthErrors' : reason ? 'AuthReason' : 'AuthMessage');
