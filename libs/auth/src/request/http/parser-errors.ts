import { type HttpServer, Injectable, type OnModuleInit } from '@nestjs/common';
import { HOST_METADATA } from '@nestjs/common/constants';
import { ApplicationConfig, HttpAdapterHost, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { trimSlashes } from '../../foundation/config/resolve-options';
import { AuthException } from '../../foundation/platform/errors';
import type { MessageKey } from '../../foundation/platform/messages';
import { Realms } from '../../foundation/realm/realm';
import { mountedRoutes } from '../gates/library-routes';
import { protectRefusal, protectResponse } from './route.interceptor';

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

/** The parts of a request that select a route. */
export interface Chosen {
  method?: string;
  /** Path and query. */
  url?: string;
  hostname?: string;
}

/** A mounted route of the library. */
export interface LibraryRoute {
  readonly guard: string;
  /** Matches the path of a request, decoded: see {@link pathOf}. */
  readonly pattern: RegExp;
  matches(request: Chosen): boolean;
}

/**
 * Lists every mounted route of the library with a matcher, for errors that occur before routing.
 *
 * @param prefix the application's global prefix
 */
export function libraryRoutes(modules: ModulesContainer, scanner: MetadataScanner, prefix: string): LibraryRoute[] {
  return mountedRoutes(modules, scanner).map(({ guard, controller, method, path }) => {
    const host: string | undefined = Reflect.getMetadata(HOST_METADATA, controller);
    const pattern = patternOf(path, trimSlashes(prefix));
    return {
      guard,
      pattern,
      matches: (request) =>
        request.method === method &&
        pattern.test(pathOf(request.url ?? '')) &&
        (host === undefined || host === request.hostname),
    };
  });
}

/**
 * The path of a request target, decoded as the router of Fastify does it: `/auth/%6cogin` is `/auth/login`. The target
 * may be a whole URL (RFC 9112 §3.2.2). An encoded slash separates no segments. Pure.
 */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  return path
    .split('/')
    .map((segment) => decoded(segment).replaceAll('/', '%2F'))
    .join('/');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Matches a path or a request target at or below one of `paths`. */
const belowAny = (paths: readonly string[], prefix: string): RegExp =>
  new RegExp(`^/${prefix && `(?:${literal(prefix)}/)?`}(?:${paths.map(literal).join('|')})(?:[/?#]|$)`, 'i');

/** A request target that is a path without an encoded character. */
const isPlain = /^\/[^%]*$/;

/**
 * Matches like a router: without case, with or without a final slash. Hosts can exclude paths from the prefix. The router
 * itself cannot be asked, because it runs after the parsers.
 */
function patternOf(path: string, prefix: string): RegExp {
  const segments = path.split('/').map((segment) => (segment.startsWith(':') ? '[^/]+' : literal(segment)));
  return new RegExp(`^/${prefix && `(?:${literal(prefix)}/)?`}${segments.join('/')}/?$`, 'i');
}

/** Node's request or response, which Fastify wraps. */
const nodeOf = <T>(message: object): T => ((message as { raw?: T }).raw ?? message) as T;

/** The request could not be read: 400, 413 or 415. The response quotes nothing of the request. */
export class UnreadableRequest extends AuthException {
  constructor({ status, key }: Unreadable) {
    super('unreadable_request', { status, text: { key } });
  }
}

/** Status and message of the response to an unreadable request. */
export interface Unreadable {
  readonly status: 400 | 413 | 415;
  readonly key: MessageKey;
}

/** All kinds of {@link Unreadable}. */
export const UNREADABLE: readonly Unreadable[] = [
  { status: 400, key: 'request.unreadable' },
  { status: 413, key: 'request.too_large' },
  { status: 415, key: 'request.unsupported' },
];

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
 * Answers unreadable requests to the library's routes: a body that is not JSON, is too large, or has an unknown
 * encoding. Parsers run before handlers, so a controller's exception filter does not see their errors, and the
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

/**
 * Sets the headers of all responses to paths of the library, also of those that no handler of it writes.
 *
 * It is one function before the routing of every request of the application. A middleware of Nest for each path would cost
 * each request of the host about 30 comparisons.
 */
@Injectable()
export class ResponseProtection {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly application: ApplicationConfig,
    private readonly modules: ModulesContainer,
    private readonly realms: Realms,
  ) {}

  /** Must be called before the routes of the application are mounted. Does nothing for other adapters. */
  install(): void {
    const adapter = this.adapterHost.httpAdapter;
    const type = adapter.getType();
    const prefix = trimSlashes(this.application.getGlobalPrefix());
    const routes = libraryRoutes(this.modules, new MetadataScanner(), prefix);
    if (routes.length === 0) return;
    const isRoute = new RegExp(routes.map(({ pattern }) => pattern.source).join('|'), 'i');
    const paths = this.realms.all.map(({ realm }) => trimSlashes(realm.options.path));
    // A guard without a path has its routes beside those of the host.
    const isBelow = paths.every(Boolean) ? belowAny(paths, prefix) : null;
    const protect = (request: IncomingMessage, response: ServerResponse): void => {
      const { url = '' } = request;
      const path = isPlain.test(url) ? url : pathOf(url);
      // The first expression is the only work for requests to other paths of the host.
      if (isBelow && !isBelow.test(path)) return;
      if (isRoute.test(path.split('?', 1)[0]!)) protectResponse(request, response);
      else if (isBelow) protectRefusal(response);
    };
    if (type === 'express') {
      adapter.use(((request: IncomingMessage, response: ServerResponse, next: () => void): void => {
        protect(request, response);
        next();
      }) as never);
    }
    if (type === 'fastify') {
      const hook = (request: { raw: IncomingMessage }, reply: { raw: ServerResponse }, done: () => void): void => {
        protect(request.raw, reply.raw);
        done();
      };
      adapter.getInstance<{ addHook(name: string, hook: unknown): void }>().addHook('onRequest', hook);
    }
  }
}
