import { HttpException } from '@nestjs/common';
import type { Reason } from './catalogue';
import { type CoreMessageKey, type Text, type Translator, inEnglish } from './messages';

/** A text of the host with its code. It is used unchanged, without translation. */
export interface CodedText {
  readonly code: string;
  readonly text: string;
}

/** A text beside a field. A plain one is used unchanged, and its code is `custom`. */
export type FieldText = Text | CodedText | string;

/** The response to a failed request. */
export interface Failure {
  readonly status: number;
  /** The text of the outcome; absent when `errors` contains texts by field. */
  readonly text?: Text;
  /**
   * Texts by request field, with dots for nested fields: `address.city`, `phones.0.number`. The first text becomes the body's
   * `message`. The codes of all texts are in the header `X-Svc-Error-Codes`.
   */
  readonly errors?: Readonly<Record<string, readonly FieldText[]>>;
  /** A machine-readable reason beside the message. */
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FailureBody {
  message: string;
  errors?: Record<string, string[]>;
  reason?: string;
}

/**
 * A failure with its response: status, headers, and a message that reveals no internal detail.
 *
 * It is an `HttpException`, so that the exception filter of the host handles it on the routes of the host.
 *
 * @publicApi
 */
export class AuthException extends HttpException {
  private translate?: Translator;
  private challenge?: (challenge: string) => string;
  private details?: { readonly reason: Reason; readonly userId?: string };

  /**
   * @param code stable name of the outcome for logs and host code; not part of the response
   * @param failure the response to the client
   */
  constructor(
    readonly code: string,
    readonly failure: Failure,
    cause?: unknown,
  ) {
    super(bodyOf(failure, inEnglish), failure.status, { cause });
    this.name = new.target.name;
  }

  get headers(): Readonly<Record<string, string>> {
    const [{ headers = {} }, codes] = [this.failure, codesOf(this.failure)];
    const challenge = headers['WWW-Authenticate'];
    return {
      ...headers,
      ...(challenge && this.challenge && { 'WWW-Authenticate': this.challenge(challenge) }),
      ...(codes && { 'X-Svc-Error-Codes': codes }),
    };
  }

  /** Whether the check ended without a result (503). Such an attempt is not counted. */
  get isInconclusive(): boolean {
    return this.failure.status === 503;
  }

  /** Details for the log that are not part of the response; see {@link withReason}. @internal */
  get logDetails(): Readonly<{ reason?: Reason; userId?: string }> {
    return this.details ?? {};
  }

  /**
   * Adds a more precise reason and the user for the security log and the metrics. They do not change the response.
   *
   * @internal
   */
  withReason(reason: Reason, userId?: string | null): this {
    this.details = { reason, userId: userId ?? undefined };
    return this;
  }

  /** Sets the translation of the texts. Only the first call has an effect. */
  translatedBy(translate: Translator): this {
    this.translate ??= translate;
    return this;
  }

  /** Sets how the challenge is written for the client. Only the first call has an effect. @internal */
  challengedBy(write: (challenge: string) => string): this {
    this.challenge ??= write;
    return this;
  }

  /** The translation of the texts, for the headers of the response. @internal */
  get translator(): Translator {
    return this.translate ?? inEnglish;
  }

  override getResponse(): FailureBody {
    return bodyOf(this.failure, this.translator);
  }
}

/** Maximum length of the codes of a response: proxies refuse long headers. */
const CODES_MAX = 2048;

/**
 * The codes of the texts by field, in the order of the texts, as `application/x-www-form-urlencoded`: field names may have
 * characters that a header cannot contain. A 422 without fields has an empty name. Empty for any other refusal without fields.
 */
function codesOf({ status, text, errors }: Failure): string {
  const texts = errors ?? (status === 422 && text ? { '': [text] } : {});
  let codes = '';
  for (const [field, ofField] of Object.entries(texts)) {
    for (const one of ofField) {
      const longer = `${codes}${codes && '&'}${String(new URLSearchParams([[field, codeOf(one)]]))}`;
      if (longer.length > CODES_MAX) return codes;
      codes = longer;
    }
  }
  return codes;
}

function codeOf(text: FieldText): string {
  if (typeof text === 'string') return 'custom';
  return 'code' in text ? text.code : text.key;
}

function bodyOf({ text, errors, reason }: Failure, translate: Translator): FailureBody {
  const render = (of: FieldText): string => {
    if (typeof of === 'string') return of;
    return 'code' in of ? of.text : translate(of.key, of.params ?? {}, of.english);
  };
  const why = reason && { reason };
  if (!errors) return { message: render(text ?? { key: 'server.error' }), ...why };

  const fields = Object.entries(errors).map(([field, texts]) => [field, texts.map(render)] as const);
  const [message = '', ...more] = fields.flatMap(([, texts]) => texts);
  const count = more.length;
  return {
    message: count ? translate('validation.more', { message, count, errors: count > 1 ? 'errors' : 'error' }) : message,
    errors: Object.fromEntries(fields),
    ...why,
  };
}

/** The credential is missing, invalid, expired or revoked: 401, one body for every reason (RFC 6750 §3). */
export class Unauthenticated extends AuthException {
  /**
   * @param presented whether a token was sent; only then does the challenge name an error (RFC 6750 §3.1)
   * @param others challenges of further schemes
   * @param more further parts of the response
   */
  constructor(presented: boolean, others: readonly string[] = [], more: Partial<Failure> = {}) {
    const challenges = [presented ? 'Bearer error="invalid_token"' : 'Bearer', ...others];
    super('unauthenticated', {
      status: 401,
      text: { key: 'auth.unauthenticated' },
      ...more,
      headers: { 'WWW-Authenticate': challenges.join(', '), ...more.headers },
    });
  }
}

/**
 * The request body breaks a rule: 422 with the texts by field.
 *
 * @example throw new ValidationFailed({ coupon: [{ code: 'coupon.expired', text: 'This coupon has expired.' }] })
 */
export class ValidationFailed extends AuthException {
  constructor(errors: Failure['errors']) {
    super('validation_failed', { status: 422, errors });
  }
}

/** Status and message of the response to an unreadable request. */
export interface Unreadable {
  readonly status: 400 | 413 | 415;
  readonly key: CoreMessageKey;
}

/** The media type or the encoding of the body is none that a parser of the application reads (RFC 9110 §15.5.16). */
export const UNSUPPORTED: Unreadable = { status: 415, key: 'request.unsupported' };

/** All kinds of {@link Unreadable}. */
export const UNREADABLE: readonly Unreadable[] = [
  { status: 400, key: 'request.unreadable' },
  { status: 413, key: 'request.too_large' },
  UNSUPPORTED,
];

/** The request could not be read: 400, 413 or 415. The response quotes nothing of the request. */
export class UnreadableRequest extends AuthException {
  constructor({ status, key }: Unreadable) {
    super('unreadable_request', { status, text: { key } });
  }
}

/**
 * The code with which Redis refuses a command: the first word of its error, such as `READONLY`. Before Redis 7, that of an
 * error in a script is in the middle. The rest of the text may contain keys and values. Undefined for any other error.
 */
export function redisRefusal(error: unknown): string | undefined {
  const { message, code } = (error ?? {}) as { message?: unknown; code?: unknown };
  // The errors of sockets and of node-postgres have a code of their own.
  if (typeof message !== 'string' || code !== undefined) return undefined;
  const [, first, inScript] = /^([A-Z]{2,}) (?:Error running script.* -([A-Z]{3,}) )?/s.exec(message) ?? [];
  return inScript ?? first;
}

/** Five characters, of which one is a digit. The codes of Prisma are not those of the server. */
const SQLSTATE = /^(?!P[12])(?=.*\d)[0-9A-Z]{5}$/;

/** The code with which Redis or PostgreSQL refuses what was sent; undefined if there was no such answer. */
function refusalOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return redisRefusal(error) ?? (typeof code === 'string' && SQLSTATE.test(code) ? code : undefined);
}

/**
 * A required store did not answer, or refused the command in its present state: 503. The request has no result. The message
 * has the code of the refusal, and no other part of the error.
 */
export class StoreUnavailable extends AuthException {
  /** The code of the refusal; undefined if the store did not answer. */
  readonly refusal: string | undefined;

  constructor(store: string, cause?: unknown) {
    super(
      'store_unavailable',
      { status: 503, text: { key: 'server.unavailable' }, headers: { 'Retry-After': '1' } },
      cause,
    );
    this.refusal = refusalOf(cause);
    this.message = this.refusal === undefined ? `${store} did not answer` : `${store} answered ${this.refusal}`;
  }
}

/** Why a variable that is set has no effect: it belongs to a block that the options replace, for example. */
export const unreadVariable = (variable: string): string =>
  `${variable} is set, but the options do not have its value: they overwrite it, or do not read it with ...authOptionsFromEnv()`;

/** An error in the configuration, found at startup where possible. The message names the option and the correction. */
export class AuthConfigError extends Error {
  override readonly name = 'AuthConfigError';
}

/** The address of a page of `docs`, for messages: the package does not contain the pages. */
export const pageUrl = (page: string): string => `https://github.com/svc-auth/svc-auth/blob/main/docs/${page}`;

/** The process has no free place for the work now: 503 with `Retry-After`. */
export abstract class ServerBusy extends AuthException {
  /** @param seconds after which the client may try again */
  constructor(code: Reason, seconds: number) {
    super(code, {
      status: 503,
      text: { key: 'server.busy', params: { seconds } },
      headers: { 'Retry-After': String(seconds) },
    });
  }
}
