import { HttpException } from '@nestjs/common';
import type { Reason } from './catalogue';
import { type Text, type Translate, inEnglish } from './messages';

/** What a caller is told of a failure. */
export interface Failure {
  readonly status: number;
  /** The one text of the outcome; absent when `errors` says it by field. */
  readonly text?: Text;
  /** Texts by request field. The first one becomes the body's `message`. */
  readonly errors?: Readonly<Record<string, readonly Text[]>>;
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
 * A failure meant for the caller: status, one message that reveals nothing, and its headers.
 *
 * It is an `HttpException`, so a host's own exception filter handles it on the host's own routes.
 *
 * @publicApi
 */
export class AuthException extends HttpException {
  private translate?: Translate;
  private details?: { readonly reason: Reason; readonly userId?: string };

  /**
   * @param code stable name of the outcome for logs and host code; never sent to the client
   * @param failure what the client is told
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
    return this.failure.headers ?? {};
  }

  /** Whether it says nothing about what was being checked, so that the attempt counts as none. */
  get isInconclusive(): boolean {
    return this.failure.status === 503;
  }

  /** What operators are told beyond the code, and no client; see {@link withReason}. @internal */
  get logDetails(): Readonly<{ reason?: Reason; userId?: string }> {
    return this.details ?? {};
  }

  /**
   * Adds the finer reason, and whom it is about, for the security log and the metrics. Neither changes the answer.
   *
   * @internal
   */
  withReason(reason: Reason, userId?: string | null): this {
    this.details = { reason, userId: userId ?? undefined };
    return this;
  }

  /** Says the same in the language of `translate`; who speaks first is heard. */
  translatedBy(translate: Translate): this {
    this.translate ??= translate;
    return this;
  }

  override getResponse(): FailureBody {
    return bodyOf(this.failure, this.translate ?? inEnglish);
  }
}

function bodyOf({ text, errors, reason }: Failure, translate: Translate): FailureBody {
  const render = ({ key, params = {} }: Text): string => translate(key, params);
  if (!errors) return { message: render(text ?? { key: 'server.error' }), ...(reason && { reason }) };

  const fields = Object.entries(errors).map(([field, texts]) => [field, texts.map(render)] as const);
  const [message = '', ...more] = fields.flatMap(([, texts]) => texts);
  const count = more.length;
  return {
    message: count ? translate('validation.more', { message, count, errors: count > 1 ? 'errors' : 'error' }) : message,
    errors: Object.fromEntries(fields),
  };
}

/** The credential is missing, invalid, expired or revoked: 401, one body for every reason (RFC 6750 §3). */
export class Unauthenticated extends AuthException {
  /** @param presented whether a token was sent; only then does the challenge name an error (RFC 6750 §3.1) */
  constructor(presented: boolean) {
    super('unauthenticated', {
      status: 401,
      text: { key: 'auth.unauthenticated' },
      headers: { 'WWW-Authenticate': presented ? 'Bearer error="invalid_token"' : 'Bearer' },
    });
  }
}

/** The request body breaks a rule: 422 with the texts by field. */
export class ValidationFailed extends AuthException {
  constructor(errors: Failure['errors']) {
    super('validation_failed', { status: 422, errors });
  }
}

/** A store that the decision needs did not answer: 503, and nothing was decided. */
export class StoreUnavailable extends AuthException {
  constructor(store: string, cause?: unknown) {
    super(
      'store_unavailable',
      { status: 503, text: { key: 'server.unavailable' }, headers: { 'Retry-After': '1' } },
      cause,
    );
    this.message = `${store} did not answer`;
  }
}

/** A mistake of the developer's, found at boot where possible. The message names the option and the cure. */
export class AuthConfigError extends Error {
  override readonly name = 'AuthConfigError';
}
