import { type ExecutionContext, HttpException, HttpStatus, Injectable, Logger } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import { isUnavailable } from '../../foundation/platform/deadline';
import { AuthConfigError, AuthException, StoreUnavailable, redisRefusal } from '../../foundation/platform/errors';
import { optionalPeer } from '../../foundation/platform/optional-peer';
import type { RealmScope } from '../../foundation/realm/realm';
import { TokenBindings } from '../../identity/tokens/caller';

const logger = new Logger('Auth');

/** Whether an error is an HTTP exception of the host or of the framework, with its own response. */
export const isForeign = (error: unknown): error is HttpException =>
  error instanceof HttpException && !(error instanceof AuthException) && !isUnavailable(error);

/** Converts an error to the exception for the client. Every fault is logged; the response contains no details of it. */
export function refusalOf(error: unknown): AuthException {
  if (error instanceof AuthException) return logged(error);
  if (isUnavailable(error)) return logged(new StoreUnavailable('A store', error));
  logger.error('unexpected failure', (error as Error | null)?.stack ?? String(error));
  return new AuthException('server_error', { status: 500, text: { key: 'server.error' } }, error);
}

/** A refusal for the client of a request: in its language, and with the challenge in the scheme of its token. */
export const forClient = (refusal: AuthException, scope: RealmScope, request: object): AuthException =>
  refusal
    .translatedBy(scope.realm.translatorFor(request))
    .challengedBy((challenge) => scope.get(TokenBindings).challengeFor(request, challenge));

function logged(refusal: AuthException): AuthException {
  // A full queue is only written to the security log, which limits its lines during a flood.
  if (refusal.getStatus() >= 500 && refusal.code !== 'hasher_busy')
    logger.error(`${refusal.code}: ${refusal.message}`, stackOf(refusal.cause));
  return refusal;
}

/** The text of an error of Redis may contain keys and arguments of the command. Its code is in the message of the refusal. */
const stackOf = (cause: unknown): string | undefined =>
  redisRefusal(cause) === undefined ? (cause as Error | undefined)?.stack : undefined;

/**
 * Names the language of a refusal in its response, where the option `languages` chooses it. A cache then keeps the response
 * for clients that accept the same languages (RFC 9110 §12.5.5). Other values of `Vary` remain.
 */
export function nameLanguage(adapter: AbstractHttpAdapter, response: unknown, { translator }: AuthException): void {
  const { language, isNegotiated } = translator;
  if (language !== undefined) adapter.setHeader(response, 'Content-Language', language);
  if (!isNegotiated) return;
  const varied = [adapter.getHeader(response, 'Vary') ?? []].flat().join(', ');
  if (/(^|,\s*)(\*|accept-language)(\s*,|$)/i.test(varied)) return;
  adapter.setHeader(response, 'Vary', [varied, 'Accept-Language'].filter(Boolean).join(', '));
}

/** Converts refusals of gates to the error format of the transport: HTTP, GraphQL, WebSocket or a microservice. */
@Injectable()
export class TransportErrors {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  /** Returns the error to throw for `error`, so that the host's own filters and formats apply. */
  errorFor(context: ExecutionContext, error: unknown, scope: RealmScope, request: object): unknown {
    const type = context.getType<string>();
    if (type === 'http') return this.overHttp(context, error, scope, request);
    if (isForeign(error)) return error;
    const refusal = forClient(refusalOf(error), scope, request);
    if (type === 'ws') return overSocket(context, refusal);
    return type === 'rpc' ? overRpc(refusal) : overGraphql(refusal);
  }

  /** Sets the challenge headers on every route. The host formats the body on its own routes. */
  private overHttp(context: ExecutionContext, error: unknown, scope: RealmScope, request: object): unknown {
    if (!(error instanceof AuthException) && !isUnavailable(error)) return error;
    const refused = error instanceof AuthException ? error : new StoreUnavailable('A store', error);
    const response: unknown = context.switchToHttp().getResponse();
    const refusal = forClient(refused, scope, request);
    for (const [name, value] of Object.entries(refusal.headers)) {
      this.adapterHost.httpAdapter.setHeader(response, name, value);
    }
    nameLanguage(this.adapterHost.httpAdapter, response, refusal);
    return refusal;
  }
}

/** A GraphQL response contains the error's message and its `extensions` (GraphQL October 2021 §7.1.2). */
export function overGraphql(refusal: AuthException): AuthException {
  const { message, ...more } = refusal.getResponse();
  const status = refusal.getStatus();
  const extensions = { code: codeOf(status), status, ...more, ...headersOf(refusal) };
  // Some servers send the stack of every error to clients in development.
  return Object.assign(refusal, { message, extensions, stack: `${refusal.name}: ${message}` });
}

/**
 * The error that code of the host gets for one with a text for its developer, which is in the log and in `cause` only: a resolver of
 * the host may pass it on, and GraphQL sends the client the message of every error.
 */
export function untold(fault: AuthConfigError): AuthConfigError {
  const { message, stack, extensions } = overGraphql(refusalOf(fault)) as AuthException & { extensions: object };
  return Object.assign(new AuthConfigError(message, { cause: fault }), { stack, extensions });
}

/** Nest sends the content of a WsException to the client as the event `exception`. */
function overSocket(context: ExecutionContext, refusal: AuthException): Error {
  const websockets = optionalPeer<{ WsException: MessageException }>('@nestjs/websockets');
  const cause = { pattern: context.switchToWs().getPattern() };
  return overMessage(websockets?.WsException, refusal, { cause });
}

/** Nest sends the content of an RpcException to the calling service, and of any other error "Internal server error". */
const overRpc = (refusal: AuthException): Error =>
  overMessage(optionalPeer<{ RpcException: MessageException }>('@nestjs/microservices')?.RpcException, refusal);

type MessageException = new (content: object) => Error;

function overMessage(exception: MessageException | undefined, refusal: AuthException, more?: object): Error {
  if (!exception) return refusal;
  const statusCode = refusal.getStatus();
  const answer = { ...refusal.getResponse(), code: codeOf(statusCode), statusCode, ...headersOf(refusal), ...more };
  return Object.assign(new exception({ status: 'error', ...answer }), { cause: refusal });
}

const codeOf = (status: number): string =>
  status === 401 ? 'UNAUTHENTICATED' : (HttpStatus[status] ?? 'INTERNAL_SERVER_ERROR');

/** The headers of the HTTP response: the challenge, and `Retry-After`. */
const headersOf = ({ headers }: AuthException): object => (Object.keys(headers).length ? { headers } : {});
