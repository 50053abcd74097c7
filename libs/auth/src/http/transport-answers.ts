import { type ExecutionContext, HttpStatus, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AuthException } from '../kernel/auth.exception';
import type { Translate } from '../kernel/messages';
import { optionalPeer } from '../kernel/optional-peer';
import { isForeign, refusalOf } from './refusal-of';

/** Gives refusals of gates before a host's handlers the shape of what brought the call. */
@Injectable()
export class TransportAnswers {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  /** What to throw for `error`, so that the host's own filters and formats still apply. */
  to(context: ExecutionContext, error: unknown, translate: Translate): unknown {
    const type = context.getType<string>();
    if (type === 'http') return this.overHttp(context, error, translate);
    if (isForeign(error)) return error;
    const refusal = refusalOf(error).in(translate);
    return type === 'ws' ? overSocket(context, refusal) : overGraphql(refusal);
  }

  /** The body is the host's to format on its own routes; the challenge headers are ours everywhere. */
  private overHttp(context: ExecutionContext, error: unknown, translate: Translate): unknown {
    if (!(error instanceof AuthException)) return error;
    const response: unknown = context.switchToHttp().getResponse();
    for (const [name, value] of Object.entries(error.headers)) {
      this.adapterHost.httpAdapter.setHeader(response, name, value);
    }
    return error.in(translate);
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
