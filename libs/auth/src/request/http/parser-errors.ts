import { type HttpServer, Injectable, type OnModuleInit } from '@nestjs/common';
import { HOST_METADATA } from '@nestjs/common/constants';
import { ApplicationConfig, HttpAdapterHost, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { trimSlashes } from '../../foundation/config/resolve-options';
import { AuthException } from '../../foundation/platform/errors';
import type { MessageKey } from '../../foundation/platform/messages';
import { Realms } from '../../foundation/realm/realm';
import { mountedRoutes } from '../gates/library-routes';

/** Answers a failure, or returns false. */
type Answer = (error: unknown, request: object, response: object) => boolean;
type Next = (error: unknown) => void;
type Handler = (error: unknown, request: object, response: object) => unknown;

/**
 * Has `answer` look first at every failure before a handler of the application. What it leaves goes to the host. To be
 * called while modules are initialized. Other adapters than these, and a console, have no such thing.
 */
export function prependErrorHandler(adapter: HttpServer | undefined, answer: Answer): void {
  const type = adapter?.getType();
  if (type === 'express') {
    // Express takes a handler of four parameters for errors.
    const handler = (error: unknown, request: object, response: object, next: Next): void => {
      if (!answer(error, request, response)) next(error);
    };
    adapter!.use(handler as never);
  }
  if (type === 'fastify') {
    // Fastify takes one handler for errors, and Nest sets it once all modules are initialized.
    const set = adapter!.setErrorHandler!.bind(adapter) as (handler: Handler, prefix?: string) => unknown;
    adapter!.setErrorHandler = (handler: Handler, prefix?: string) =>
      set(
        (error, request, response) =>
          answer(error, request, response) ? undefined : handler(error, request, response),
        prefix,
      );
  }
}

/** A request, as far as it chooses a route. */
export interface Chosen {
  method?: string;
  /** Path and query. */
  url?: string;
  hostname?: string;
}

/** A mounted route of the library. */
export interface LibraryRoute {
  readonly guard: string;
  matches(request: Chosen): boolean;
}

/**
 * Every mounted route of the library, for what happens before one is chosen.
 *
 * @param prefix the application's global prefix
 */
export function libraryRoutes(modules: ModulesContainer, scanner: MetadataScanner, prefix: string): LibraryRoute[] {
  return mountedRoutes(modules, scanner).map(({ guard, controller, method, path }) => {
    const host: string | undefined = Reflect.getMetadata(HOST_METADATA, controller);
    const pattern = patternOf(path, trimSlashes(prefix));
    return {
      guard,
      matches: (request) =>
        request.method === method &&
        pattern.test(request.url?.split('?')[0] ?? '') &&
        (host === undefined || host === request.hostname),
    };
  });
}

/** As routers match: in any case, with a slash at the end or none. A host may exempt paths from its prefix. */
function patternOf(path: string, prefix: string): RegExp {
  const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const segments = path.split('/').map((segment) => (segment.startsWith(':') ? '[^/]+' : literal(segment)));
  return new RegExp(`^/${prefix && `(?:${literal(prefix)}/)?`}${segments.join('/')}/?$`, 'i');
}

/** The request could not be read: 400, 413 or 415, and no word of it is repeated. */
export class UnreadableRequest extends AuthException {
  constructor({ status, key }: Unreadable) {
    super('unreadable_request', { status, text: { key } });
  }
}

/** What a client is told of a request that could not be read. */
export interface Unreadable {
  readonly status: 400 | 413 | 415;
  readonly key: MessageKey;
}

/** Every kind. */
export const UNREADABLE: readonly Unreadable[] = [
  { status: 400, key: 'request.unreadable' },
  { status: 413, key: 'request.too_large' },
  { status: 415, key: 'request.unsupported' },
];

/**
 * What a failure before any route means, where it is one of reading the request; null for all others, which are
 * the host's own. Pure.
 *
 * Express's body parsers name the kind of failure in `type`, Fastify's and decompression in `code`, and a path with a
 * broken escape is a `URIError`. Their texts quote the request, so none of them is passed on.
 */
export function unreadable(error: unknown): Unreadable | null {
  const { status, statusCode = status, type, code } = (error ?? {}) as Record<string, unknown>;
  const ofReading = typeof type === 'string' || /^(Z_|FST_ERR_CTP_)/.test(String(code)) || error instanceof URIError;
  return (ofReading && UNREADABLE.find((outcome) => outcome.status === statusCode)) || null;
}

/**
 * Answers requests to the library's routes that cannot be read: a body that is no JSON, too large, or in an unknown
 * encoding. Parsers run before any handler, so their failures reach no filter of a controller, and the framework's own
 * answer may quote the body. Those of the host's routes go their way.
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
      if (refusal) httpAdapter.reply(response, refusal.getResponse(), refusal.getStatus());
      return Boolean(refusal);
    });
  }

  private refusal(error: unknown, { guard }: LibraryRoute, request: Chosen): AuthException | null {
    const outcome = unreadable(error);
    return outcome && new UnreadableRequest(outcome).translatedBy(this.realms.get(guard).realm.translatorFor(request));
  }
}
