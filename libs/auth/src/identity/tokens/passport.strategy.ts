import { Injectable, type Type } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { type SecretOrKeyProvider, Strategy } from 'passport-jwt';
import { Unauthenticated } from '../../foundation/platform/errors';
import { AccessTokens } from './access-tokens';
import { Authenticator, type Credentialed, bearerOf } from './authenticator';
import { Keyring, type VerifiedJws, prepareKey, verifyingKey } from './keyring';

function unlessRefused(error: unknown): null {
  if (error instanceof Unauthenticated) return null;
  throw error;
}

/**
 * Creates the Passport strategy for `AuthGuard('{guard}')` of `@nestjs/passport`.
 *
 * passport-jwt verifies the signature with the realm's key ring. Times, type, issuer, audience, revocation and user are
 * checked by the same code as for `@Authenticated()`. Passport has one registry per process: a second application with
 * the same guard name replaces the strategy of the first.
 */
export function accessTokenStrategy(guard: string): Type<object> {
  @Injectable()
  class AccessTokenStrategy extends PassportStrategy(Strategy, guard) {
    constructor(
      private readonly keyring: Keyring,
      private readonly accessTokens: AccessTokens,
      private readonly authenticator: Authenticator,
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

    override authenticate(request: Parameters<Strategy['authenticate']>[0], options?: object): void {
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
