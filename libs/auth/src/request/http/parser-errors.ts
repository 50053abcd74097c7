import { type HttpServer, Injectable, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AuthException, UNREADABLE, type Unreadable, UnreadableRequest } from '../../foundation/platform/errors';
import { Realms } from '../../foundation/realm/realm';
import { type Chosen, type LibraryRoute, libraryRoutes } from '../gates/library-routes';
import { nameLanguage } from '../gates/transport-errors';
import { protectResponse } from './route-answer';

/** Writes the response to an error and returns true, or returns false. */
type Answer = (error: unknown, request: object, response: object) => boolean;
type Next = (error: unknown) => void;
type Handler = (error: unknown, request: object, response: object) => unknown;

/**
 * Calls `answer` first for every error that occurs before a handler of the application runs. Errors that it does not
 * answer go to the host. Must be called while modules are initialized. Does nothing for other adapters and for a
 * console application.
 */
export function prependErrorHandler(adapter: HttpServer | undefined, answer: Answer): void {
  const type = adapter?.getType();
  if (type === 'express') {
    // Express recognizes an error handler by its four parameters.
    const handler = (error: unknown, request: object, response: object, next: Next): void => {
      if (!answer(error, request, response)) next(error);
    };
    adapter!.use(handler as never);
  }
  if (type === 'fastify') {
    // Fastify has one error handler, and Nest sets it after all modules are initialized.
    const set = adapter!.setErrorHandler!.bind(adapter) as (handler: Handler, prefix?: string) => unknown;
    adapter!.setErrorHandler = (handler: Handler, prefix?: string) =>
      set(
        (error, request, response) =>
          answer(error, request, response) ? undefined : handler(error, request, response),
        prefix,
      );
  }
}

/** Node's request or response, which Fastify wraps. */
const nodeOf = <T>(message: object): T => ((message as { raw?: T }).raw ?? message) as T;

/**
 * Classifies an error that occurred before routing. Null for an error that is not about reading the request: the host
 * handles it. Pure.
 *
 * Express's body parsers set `type`, Fastify's parsers and decompression set `code`, and a path with an invalid percent
 * encoding is a `URIError`. Their messages quote the request, so the response does not contain them.
 */
export function unreadable(error: unknown): Unreadable | null {
  const { status, statusCode = status, type, code } = (error ?? {}) as Record<string, unknown>;
  const ofReading = typeof type === 'string' || /^(Z_|FST_ERR_CTP_)/.test(String(code)) || error instanceof URIError;
  return (ofReading && UNREADABLE.find((outcome) => outcome.status === statusCode)) || null;
}

/**
 * Answers the requests to the library's routes of which a parser refuses the body: it is not JSON, is too large, or has an
 * unknown encoding. `RouteGuard` answers a body that no parser has read. Parsers run before handlers, so a controller's exception filter does not see their errors, and the
 * framework's own response may quote the body. Errors of the host's routes are left to the host.
 */
@Injectable()
export class UnreadableRequests implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly application: ApplicationConfig,
    private readonly modules: ModulesContainer,
    private readonly realms: Realms,
  ) {}

  onModuleInit(): void {
    const { httpAdapter } = this.adapterHost;
    const routes = libraryRoutes(this.modules, new MetadataScanner(), this.application.getGlobalPrefix());
    prependErrorHandler(httpAdapter, (error, request: Chosen, response) => {
      const route = httpAdapter.isHeadersSent(response) ? undefined : routes.find((own) => own.matches(request));
      const refusal = route && this.refusal(error, route, request);
      if (refusal) {
        // Express parses bodies before it runs middleware.
        protectResponse(nodeOf<IncomingMessage>(request), nodeOf<ServerResponse>(response));
        nameLanguage(httpAdapter, response, refusal);
        httpAdapter.reply(response, refusal.getResponse(), refusal.getStatus());
      }
      return Boolean(refusal);
    });
  }

  private refusal(error: unknown, { guard }: LibraryRoute, request: Chosen): AuthException | null {
    const outcome = unreadable(error);
    return outcome && new UnreadableRequest(outcome).translatedBy(this.realms.get(guard).realm.translatorFor(request));
  }
}
