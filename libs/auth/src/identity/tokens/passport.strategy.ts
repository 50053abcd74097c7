import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown, type Type } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { PassportStrategy } from '@nestjs/passport';
import { type SecretOrKeyProvider, Strategy } from 'passport-jwt';
import { AuthConfigError, Unauthenticated } from '../../foundation/platform/errors';
import { AccessTokens } from './access-tokens';
import { Authenticator } from './authenticator';
import { type Credentialed, TokenBindings, callerOfRoute } from './caller';
import { Keyring, type VerifiedJws, prepareKey, verifyingKey } from './keyring';

/** A request of Express has its response; one of Fastify has none. */
interface Answered {
  readonly res?: { setHeader(name: string, value: string): unknown };
}

/**
 * @returns null for a refusal. The challenge of another scheme than `Bearer` is for a token of this guard, which no other strategy of
 *   the route accepts, so it is sent
 */
function unlessRefused(error: unknown, { res }: Answered): null {
  if (!(error instanceof Unauthenticated)) throw error;
  if (!error.headers['WWW-Authenticate']?.startsWith('Bearer'))
    for (const [name, value] of Object.entries(error.headers)) res?.setHeader(name, value);
  return null;
}

/** Node's request, or one of Express or Fastify, with what serves it. */
interface Served {
  readonly app?: object;
  readonly server?: object;
  readonly raw?: Served;
  readonly socket?: { readonly server?: object };
}

/** Whether an application serves a request: by the object of its framework, or by its HTTP server. */
function serves({ httpAdapter }: HttpAdapterHost, { app, server, raw, socket = raw?.socket }: Served): boolean {
  const instance = httpAdapter?.getInstance<object>();
  if (!instance) return false;
  // A plugin of Fastify has an object of its own, which inherits from that of the application.
  const isOf = (one?: object): boolean => one === instance || (one !== undefined && instance.isPrototypeOf(one));
  return isOf(app) || isOf(server) || (socket?.server !== undefined && socket.server === httpAdapter.getHttpServer());
}

/** The strategy of one application. */
interface Registered {
  readonly adapterHost: HttpAdapterHost;
  check(request: Parameters<Strategy['authenticate']>[0], options?: object): void;
}

/** The part of Passport that shows and sets which strategy a name stands for. */
interface StrategyNames {
  _strategy?(name: string): object | undefined;
  use(name: string, strategy: object): unknown;
}

/** The Passport that `@nestjs/passport` uses. */
const passportOf = ({ prototype }: Type<object>): StrategyNames =>
  (prototype as { getPassportInstance(): StrategyNames }).getPassportInstance();

/** All strategies of this library, also those of applications that are not running yet, or not any more. */
const own = new WeakSet<object>();

/** The strategies of the running applications by the name of their guard. */
const registered = new Map<string, Set<Registered>>();

/**
 * The strategy of the application that serves a request. Undefined if there are several applications, and none is known to.
 *
 * @param last the one that Passport has
 */
function responsibleFor(guard: string, request: object, last: Registered): Registered | undefined {
  const all = [...(registered.get(guard) ?? [])];
  // `last` may not be registered any more, or not yet.
  const serving = [...all, last].find(({ adapterHost }) => serves(adapterHost, request));
  return serving ?? (all.length > 1 ? undefined : (all[0] ?? last));
}

/**
 * Creates the Passport strategy for `AuthGuard('{guard}')` of `@nestjs/passport`.
 *
 * passport-jwt verifies the signature with the realm's key ring. Times, type, issuer, audience, revocation and user are
 * checked by the same code as for `@Authenticated()`. Passport has one registry per process, in which a second application with
 * the same guard name replaces the strategy of the first. So each request is given to the strategy of its own application.
 */
export function accessTokenStrategy(guard: string): Type<object> {
  @Injectable()
  class AccessTokenStrategy
    extends PassportStrategy(Strategy, guard)
    implements Registered, OnApplicationBootstrap, OnApplicationShutdown
  {
    /** What had the name in Passport before; undefined after the start. */
    private replaced: object | undefined;

    constructor(
      private readonly keyring: Keyring,
      private readonly accessTokens: AccessTokens,
      private readonly authenticator: Authenticator,
      private readonly bindings: TokenBindings,
      readonly adapterHost: HttpAdapterHost,
      private readonly modules: ModulesContainer,
    ) {
      const keyOf: SecretOrKeyProvider = (_request, token: string, done) => {
        const key = verifyingKey(keyring, token);
        // passport-jwt passes the key to jsonwebtoken, which accepts a KeyObject. The type allows string and Buffer only.
        done(key ? null : new Error('unknown signing key'), key as unknown as Buffer);
      };
      const replaced = passportOf(AccessTokenStrategy)._strategy?.(guard);
      super({
        jwtFromRequest: (request: Credentialed) => bindings.credentialOf(request).token || null,
        secretOrKeyProvider: keyOf,
        algorithms: [keyring.algorithm],
        ignoreExpiration: true,
        jsonWebTokenOptions: { complete: true, ignoreNotBefore: true },
        passReqToCallback: true,
      });
      own.add(this);
      this.replaced = replaced;
    }

    /** @throws AuthConfigError if the application has another strategy of this name: `AuthGuard` would use one of them, by chance */
    onApplicationBootstrap(): void {
      const passport = passportOf(AccessTokenStrategy);
      const others = [this.replaced, passport._strategy?.(guard)].filter((one) => one && !own.has(one));
      this.replaced = undefined;
      // Passport also keeps the strategies of applications that were closed.
      if (others.some((one) => this.hasProvider(one))) {
        // Other applications of the process have the guard, too, and must not accept the tokens of the other strategy.
        passport.use(guard, this);
        throw new AuthConfigError(
          `The application has another strategy of Passport with the name "${guard}" beside that of the guard "${guard}", and ` +
            `AuthGuard('${guard}') can use only one. Remove it, or name it otherwise: PassportStrategy(Strategy, 'former').`,
        );
      }
      registered.set(guard, (registered.get(guard) ?? new Set()).add(this));
    }

    private hasProvider(wanted: unknown): boolean {
      const providers = [...this.modules.values()].flatMap(({ providers: those }) => [...those.values()]);
      return providers.some(({ instance }) => instance === wanted);
    }

    onApplicationShutdown(): void {
      registered.get(guard)?.delete(this);
    }

    override authenticate(request: Parameters<Strategy['authenticate']>[0], options?: object): void {
      const responsible = responsibleFor(guard, request, this);
      // Passport calls an object that inherits from the strategy, and has the outcomes of this request.
      if (responsible)
        return responsible.check.call(
          Object.create(responsible, Object.getOwnPropertyDescriptors(this)),
          request,
          options,
        );
      this.error(
        new AuthConfigError(
          `Several applications of this process have the guard "${guard}", and AuthGuard('${guard}') does not know which of them ` +
            'serves the request. Name the guards of one of them otherwise (guard), or use @Authenticated().',
        ),
      );
    }

    check(request: Parameters<Strategy['authenticate']>[0], options?: object): void {
      // Passport refuses a caller without a user, as any text that is no token.
      const { user } = callerOfRoute(request, guard) ?? {};
      if (user) return this.success(user);
      const preparing = prepareKey(this.keyring, this.bindings.credentialOf(request).token);
      if (!preparing) return super.authenticate(request, options);
      // passport-jwt answers 401 if its key provider fails. An unreadable key set must be 503.
      preparing.then(() => super.authenticate(request, options)).catch((error: Error) => this.error(error));
    }

    async validate(
      request: Credentialed & Answered,
      { header, payload }: { header: VerifiedJws['header']; payload: VerifiedJws['claims'] },
    ) {
      const claims = this.accessTokens.validClaims({ header, claims: payload });
      const caller =
        claims && (await this.authenticator.admit(request, claims).catch((error) => unlessRefused(error, request)));
      // After `false` Passport tries the next strategy of `AuthGuard(['api', 'admin'])`; after an exception it stops.
      return caller ? caller.user : false;
    }
  }
  return AccessTokenStrategy;
}
