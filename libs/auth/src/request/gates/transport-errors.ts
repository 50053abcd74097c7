import { type ExecutionContext, HttpException, HttpStatus, Injectable, Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { isUnavailable } from '../../foundation/platform/deadline';
import { AuthException, StoreUnavailable } from '../../foundation/platform/errors';
import type { Translate } from '../../foundation/platform/messages';
import { optionalPeer } from '../../foundation/platform/optional-peer';
import { HasherBusy } from '../../identity/password/hash-queue';

const logger = new Logger('Auth');

/** Whether a failure is an answer in words of the host's, or of the framework's. */
export const isForeign = (error: unknown): error is HttpException =>
  error instanceof HttpException && !(error instanceof AuthException) && !isUnavailable(error);

/** A failure as its client is told it. Operators are told of every fault, which its client learns nothing of. */
export function refusalOf(error: unknown): AuthException {
  if (error instanceof AuthException) return told(error);
  if (isUnavailable(error)) return told(new StoreUnavailable('A store', error));
  logger.error('unexpected failure', (error as Error | null)?.stack ?? String(error));
  return new AuthException('server_error', { status: 500, text: { key: 'server.error' } }, error);
}

function told(refusal: AuthException): AuthException {
  // A full queue is told by the security log, which a flood does not flood.
  if (refusal.getStatus() >= 500 && !(refusal instanceof HasherBusy))
    logger.error(`${refusal.code}: ${refusal.message}`, (refusal.cause as Error | undefined)?.stack);
  return refusal;
}

/** Gives refusals of gates before a host's handlers the shape of what brought the call. */
@Injectable()
export class TransportErrors {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  /** What to throw for `error`, so that the host's own filters and formats still apply. */
  errorFor(context: ExecutionContext, error: unknown, translate: Translate): unknown {
    const type = context.getType<string>();
    if (type === 'http') return this.overHttp(context, error, translate);
    if (isForeign(error)) return error;
    const refusal = refusalOf(error).translatedBy(translate);
    return type === 'ws' ? overSocket(context, refusal) : overGraphql(refusal);
  }

  /** The body is the host's to format on its own routes; the challenge headers are ours everywhere. */
  private overHttp(context: ExecutionContext, error: unknown, translate: Translate): unknown {
    if (!(error instanceof AuthException)) return error;
    const response: unknown = context.switchToHttp().getResponse();
    for (const [name, value] of Object.entries(error.headers)) {
      this.adapterHost.httpAdapter.setHeader(response, name, value);
    }
    return error.translatedBy(translate);
  }
}

/** GraphQL answers with an error's message, and with its `extensions` (GraphQL October 2021 §7.1.2). */
function overGraphql(refusal: AuthException): AuthException {
  const { message, ...more } = refusal.getResponse();
  const status = refusal.getStatus();
  const extensions = { code: codeOf(status), status, ...more, ...headersOf(refusal) };
  // Some servers send the stack of any error to their clients while in development.
  return Object.assign(refusal, { message, extensions, stack: `${refusal.name}: ${message}` });
}

/** Nest sends what a WsException holds to the client, as the event `exception`. */
function overSocket(context: ExecutionContext, refusal: AuthException): Error {
  const websockets = optionalPeer<{ WsException: new (error: object) => Error }>('@nestjs/websockets');
  if (!websockets) return refusal;
  const statusCode = refusal.getStatus();
  const cause = { pattern: context.switchToWs().getPattern() };
  const answer = { ...refusal.getResponse(), code: codeOf(statusCode), statusCode, ...headersOf(refusal), cause };
  return Object.assign(new websockets.WsException({ status: 'error', ...answer }), { cause: refusal });
}

const codeOf = (status: number): string =>
  status === 401 ? 'UNAUTHENTICATED' : (HttpStatus[status] ?? 'INTERNAL_SERVER_ERROR');

/** What HTTP says in headers: the challenge, and when to come back. */
const headersOf = ({ headers }: AuthException): object => (Object.keys(headers).length ? { headers } : {});
