import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { PassportStrategy } from '@nestjs/passport';
import { type SecretOrKeyProvider, Strategy } from 'passport-jwt';
import { AuthConfigError, Unauthenticated } from '../../foundation/platform/errors';
import { AccessTokens } from './access-tokens';
import { Authenticator, type Credentialed, bearerOf } from './authenticator';
import { Keyring, type VerifiedJws, prepareKey, verifyingKey } from './keyring';

function unlessRefused(error: unknown): null {
  if (error instanceof Unauthenticated) return null;
  throw error;
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
  const own = [...all, last].find(({ adapterHost }) => serves(adapterHost, request));
  return own ?? (all.length > 1 ? undefined : (all[0] ?? last));
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
    constructor(
      private readonly keyring: Keyring,
      private readonly accessTokens: AccessTokens,
      private readonly authenticator: Authenticator,
      readonly adapterHost: HttpAdapterHost,
    ) {
      const keyOf: SecretOrKeyProvider = (_request, token: string, done) => {
        const key = verifyingKey(keyring, token);
        // passport-jwt passes the key to jsonwebtoken, which accepts a KeyObject. The type allows string and Buffer only.
        done(key ? null : new Error('unknown signing key'), key as unknown as Buffer);
      };
      super({
        jwtFromRequest: (request: Credentialed) => bearerOf(request) || null,
        secretOrKeyProvider: keyOf,
        algorithms: [keyring.algorithm],
        ignoreExpiration: true,
        jsonWebTokenOptions: { complete: true, ignoreNotBefore: true },
        passReqToCallback: true,
      });
    }

    onApplicationBootstrap(): void {
      registered.set(guard, (registered.get(guard) ?? new Set()).add(this));
    }

    onApplicationShutdown(): void {
      registered.get(guard)?.delete(this);
    }

    override authenticate(request: Parameters<Strategy['authenticate']>[0], options?: object): void {
      const own = responsibleFor(guard, request, this);
      // Passport calls an object that inherits from the strategy, and has the outcomes of this request.
      if (own) return own.check.call(Object.create(own, Object.getOwnPropertyDescriptors(this)), request, options);
      this.error(
        new AuthConfigError(
          `Several applications of this process have the guard "${guard}", and AuthGuard('${guard}') does not know which of them ` +
            'serves the request. Name the guards of one of them otherwise (guard), or use @Authenticated().',
        ),
      );
    }

    check(request: Parameters<Strategy['authenticate']>[0], options?: object): void {
      const preparing = prepareKey(this.keyring, bearerOf(request));
      if (!preparing) return super.authenticate(request, options);
      // passport-jwt answers 401 if its key provider fails. An unreadable key set must be 503.
      preparing.then(() => super.authenticate(request, options)).catch((error: Error) => this.error(error));
    }

    async validate(
      request: object,
      { header, payload }: { header: VerifiedJws['header']; payload: VerifiedJws['claims'] },
    ) {
      const claims = this.accessTokens.validClaims({ header, claims: payload });
      const caller = claims && (await this.authenticator.admit(request, claims).catch(unlessRefused));
      // After `false` Passport tries the next strategy of `AuthGuard(['api', 'admin'])`; after an exception it stops.
      return caller ? caller.user : false;
    }
  }
  return AccessTokenStrategy;
}
