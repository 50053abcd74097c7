import { Inject, Injectable } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestScope } from '../../foundation/platform/deadline';
import { RequestObserver } from '../gates/request-log';
import { ApplicationConfig, HttpAdapterHost, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { trimSlashes } from '../../foundation/config/core-options';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import type { RouteDeclaration } from '../../foundation/realm/route';
import { Realm, RealmScope, Realms } from '../../foundation/realm/realm';
import { belowAny, isWithoutEncoding, libraryRoutes, pathOf } from '../gates/library-routes';
import type { TokenBody, TokenType } from '../../foundation/ports/presenter';
import { FairShareKeys } from './client-info';
import { RefreshCookie, type TokenCookie } from './cookies';
import { Presentation } from './presentation';

/** Headers that forbid caching of a response (RFC 6749 §5.1, RFC 9111 §5.2.2.5). */
export const NO_STORE = [
  ['Cache-Control', 'no-store, private'],
  ['Pragma', 'no-cache'],
] as const;

/** The media type of a response is the stated one: no browser guesses another one (Fetch §3.6). */
export const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

const PROTECTING = [...NO_STORE, NO_SNIFFING];

const PROTECTED = Symbol('svc.protected');

type Protected = ServerResponse & { [PROTECTED]?: boolean };

/** A request or a response of an adapter: on Fastify, Node's is a property. */
type Adapted<T> = T & { readonly raw?: T };

/**
 * Protects the answer of a route of the library of which {@link ResponseProtection} did not recognize the path: below another
 * application, or after a middleware of the host that has changed it. A route that may be cached has set its header.
 */
export function protectLate(request: unknown, response: unknown): void {
  const { raw = response as Protected } = response as Adapted<Protected>;
  if (raw[PROTECTED] || typeof raw.writeHead !== 'function' || raw.headersSent || raw.hasHeader('Cache-Control'))
    return;
  const { raw: received = request as IncomingMessage } = request as Adapted<IncomingMessage>;
  protectResponse(received, raw);
}

/**
 * Protects the response to a request of which the path is one of the library's routes, also when another method or an
 * error answers it. It forbids caching and guessing of a media type; a route that may be cached replaces the header. It
 * removes the entity tag, a digest of the body. Only a cache needs it, and frameworks answer a request that has it with 304.
 *
 * @param request Node's request, on Fastify too
 */
export function protectResponse({ headers }: IncomingMessage, response: Protected): void {
  response[PROTECTED] = true;
  for (const [name, value] of PROTECTING) response.setHeader(name, value);
  // Express computes no entity tag where there is one.
  response.setHeader('ETag', '""');
  for (const name of ['if-none-match', 'if-modified-since']) delete headers[name];
  beforeHead(response, (own) => {
    withoutTag(response, own);
    if (!String(cachingOf(response, own)).startsWith('no-store')) response.removeHeader('Pragma');
  });
}

/**
 * Protects a refusal below a path of the library that is none of its routes, for example of a feature that is off. Other
 * responses there belong to routes of the host.
 */
export function protectRefusal(response: ServerResponse): void {
  beforeHead(response, (own, status) => {
    if (status < 400) return;
    withoutTag(response, own);
    const isSet = cachingOf(response, own) !== undefined;
    for (const [name, value] of isSet ? [NO_SNIFFING] : PROTECTING) response.setHeader(name, value);
  });
}

type Headers = Record<string, unknown>;

/** Calls `change` before the head is written, with the headers that Fastify passes to it, and the status. */
function beforeHead(response: ServerResponse, change: (own: Headers, status: number) => void): void {
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  response.writeHead = (...args: unknown[]): never => {
    const own = args.at(-1);
    change(typeof own === 'object' && own !== null ? (own as Headers) : {}, Number(args[0]));
    return writeHead(...args) as never;
  };
}

/** Fastify passes names in lower case. */
const cachingOf = (response: ServerResponse, own: Headers): unknown =>
  own['cache-control'] ?? response.getHeader('Cache-Control');

function withoutTag(response: ServerResponse, own: Headers): void {
  response.removeHeader('ETag');
  for (const name of ['etag', 'ETag']) delete own[name];
}

/** The token that a device keeps after a sign-in. It grants nothing. */
export interface DeviceToken {
  readonly token: string;
  /** Seconds for which the device keeps it. */
  readonly expiresIn: number;
}

/** The tokens of a started or refreshed session. The refresh token is not stored in plain text. */
export interface SessionTokens {
  /** The id of the user, as in the claim `sub`. It is no part of the response. */
  readonly userId: string;
  readonly accessToken: string;
  readonly tokenType: TokenType;
  readonly refreshToken: string;
  /** Lifetime of the access token in seconds. */
  readonly expiresIn: number;
  /**
   * Seconds until the session ends if it is not used again: at its deadline, which a refresh does not extend, or after its
   * idle time.
   */
  readonly refreshExpiresIn: number;
  /** Whether the session outlives the browser. If not, the refresh cookie has no `Max-Age`. */
  readonly remembered: boolean;
  /** Headers that a feature adds to the answer in cookie mode, for the browser. */
  readonly headers?: Readonly<Record<string, string>>;
}

declare module './cookies' {
  interface FeatureCookie {
    /** Of a token that is delivered with those of a session: its property there, and its field in the body. */
    readonly delivered?: {
      readonly property: keyof SessionTokens;
      readonly field: keyof TokenBody;
      /** What the field contains, for the documentation. */
      readonly meaning: string;
    };
  }
}

/**
 * Writes session tokens in the realm's output mode: all in the body, or the refresh token as a cookie. A result that is
 * not session tokens, such as a challenge, is returned unchanged.
 */
@Injectable()
export class TokenDelivery {
  private readonly ofDevice: readonly { property: keyof SessionTokens; field: keyof TokenBody; cookie: TokenCookie }[];

  constructor(
    private readonly realm: Realm,
    private readonly cookie: RefreshCookie,
    private readonly adapterHost: HttpAdapterHost,
    @Inject(MANIFESTS) manifests: readonly Feature[],
  ) {
    const cookies = manifests.flatMap((feature) => feature.cookies ?? []);
    this.ofDevice = cookies.flatMap((Cookie) =>
      Cookie.delivered ? { ...Cookie.delivered, cookie: new Cookie(realm) } : [],
    );
  }

  /** Returns the response body for the result of a handler. */
  of(answer: unknown, response: unknown): unknown {
    return isTokens(answer) ? this.deliver(answer, response) : answer;
  }

  /** Forbids caching of a response of the host. Those of the library have {@link protectResponse}. */
  forbidCaching(response: unknown): void {
    for (const [name, value] of PROTECTING) this.adapterHost.httpAdapter.setHeader(response, name, value);
  }

  /** Returns the response body. In cookie mode, sets the refresh cookie and those of the device on the response. */
  deliver(tokens: SessionTokens, response: unknown): TokenBody {
    const { accessToken, tokenType, refreshToken, expiresIn, refreshExpiresIn, remembered } = tokens;
    const token = { token_type: tokenType, expires_in: expiresIn };
    const kept = this.ofDevice.flatMap(({ property, field, cookie }) => {
      const given = tokens[property] as DeviceToken | undefined;
      return given ? { ...given, field, cookie } : [];
    });
    if (!this.realm.options.cookieMode) {
      const fields = Object.fromEntries(kept.map((given) => [given.field, given.token]));
      return { access_token: accessToken, refresh_token: refreshToken, ...token, ...fields };
    }
    const { httpAdapter } = this.adapterHost;
    httpAdapter.appendHeader(
      response,
      'Set-Cookie',
      this.cookie.set(refreshToken, remembered ? refreshExpiresIn : undefined),
    );
    for (const [name, value] of Object.entries(tokens.headers ?? {})) httpAdapter.setHeader(response, name, value);
    for (const given of kept)
      httpAdapter.appendHeader(response, 'Set-Cookie', given.cookie.set(given.token, given.expiresIn));
    return { access_token: accessToken, ...token };
  }

  /** In cookie mode, removes the refresh cookie. */
  forget(response: unknown): void {
    if (this.realm.options.cookieMode)
      this.adapterHost.httpAdapter.appendHeader(response, 'Set-Cookie', this.cookie.clear());
  }
}

const isTokens = (answer: unknown): answer is SessionTokens =>
  typeof answer === 'object' && answer !== null && 'accessToken' in answer;

/** The body for what a handler returns: the declared `status` for nothing, and a list as `data`. */
const bodyOf = (answer: unknown, done?: string): unknown => {
  if (answer === undefined) return done && { status: done };
  return Array.isArray(answer) ? { data: answer } : answer;
};

/**
 * Runs the handlers of the library's routes, after the gates and the pipes:
 *
 * - In the request scope that `RouteGuard` has opened. Hashes then count as the sender's share of the queue, and all waits for
 *   stores share one deadline.
 * - It writes tokens in the realm's output mode, and the bodies that handlers leave to their declaration.
 * - It reports the outcome to operators.
 *
 * It is no interceptor: Nest makes about ten observables for a request that has one, which cost 25 µs of processor time.
 */
@Injectable()
export class RouteHandlers {
  constructor(
    private readonly scope: RealmScope,
    private readonly fairShareKeys: FairShareKeys,
    private readonly delivery: TokenDelivery,
    private readonly observer: RequestObserver,
    private readonly presentation: Presentation,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** The body of the answer to a request. */
  answer(route: RouteDeclaration, request: object, response: unknown, handle: () => unknown): Promise<unknown> {
    protectLate(request, response);
    const answer = this.observer.observe(route, request, () => this.handled(route, request, response, handle));
    // The last step, so that the log of the request reads the fields of the library.
    const { isCustom } = this.presentation;
    return isCustom ? answer.then((body) => this.present(route, request, response, body)) : answer;
  }

  private async handled(
    { statusOf, done, steps = [], besideScope }: RouteDeclaration,
    request: object,
    response: unknown,
    handle: () => unknown,
  ): Promise<unknown> {
    const scope = RequestScope.of(request);
    scope.fairShareKeys = () => this.fairShareKeys.of(request);
    try {
      let answer = await (besideScope ? handle() : scope.run(handle));
      for (const step of steps) answer = this.scope.get(step).apply(answer, request, response);
      if (statusOf) this.adapterHost.httpAdapter.status(response, statusOf(answer as object));
      return this.delivery.of(bodyOf(answer, done), response);
    } finally {
      scope.end();
    }
  }

  private async present(
    { presentedAs }: RouteDeclaration,
    request: object,
    response: unknown,
    answer: unknown,
  ): Promise<unknown> {
    const body = await this.presentation.of(presentedAs, answer, request);
    if (answer === undefined && body !== undefined) this.adapterHost.httpAdapter.status(response, 200);
    return body;
  }
}

/**
 * Sets the headers of all responses to paths of the library, also of those that no handler of it writes.
 *
 * It is one function before the routing. A middleware of Nest for each path would cost each request of the host about 30
 * comparisons.
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
    const isAmongOthers = !paths.every(Boolean);
    const protect = (request: IncomingMessage, response: ServerResponse, target: string): void => {
      const path = isWithoutEncoding.test(target) ? target.split('?', 1)[0]! : pathOf(target);
      if (isRoute.test(path)) protectResponse(request, response);
      else if (!isAmongOthers) protectRefusal(response);
    };
    if (type === 'express') {
      const below = isAmongOthers
        ? ['/']
        : paths.flatMap((path) => [`/${path}`, ...(prefix && [`/${prefix}/${path}`])]);
      const handler = (request: Originally, response: ServerResponse, next: () => void): void => {
        protect(request, response, request.originalUrl);
        next();
      };
      // The router of Express compares the path, so that no code of the library runs for requests to other paths.
      adapter.use(below as never, handler as never);
    }
    if (type === 'fastify') {
      const isBelow = isAmongOthers ? /^/ : belowAny(paths, prefix);
      const hook = ({ raw }: { raw: IncomingMessage }, reply: { raw: ServerResponse }, done: () => void): void => {
        const { url = '' } = raw;
        if (isBelow.test(isWithoutEncoding.test(url) ? url : pathOf(url))) protect(raw, reply.raw, url);
        done();
      };
      adapter.getInstance<{ addHook(name: string, hook: unknown): void }>().addHook('onRequest', hook);
    }
  }
}

/** A request of Express, which changes `url` below a mounted path. */
interface Originally extends IncomingMessage {
  readonly originalUrl: string;
}
