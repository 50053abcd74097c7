import { Injectable, type Type } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { type SecretOrKeyProvider, Strategy } from 'passport-jwt';
import { Unauthenticated } from '../../foundation/platform/errors';
import { AccessTokens } from './access-tokens';
import { Authenticator, type Headers, bearerOf } from './authenticator';
import { type VerifiedJws, prepareKey, verifyingKey } from './jws';
import { Keyring } from './keyring';

function unlessRefused(error: unknown): null {
  if (error instanceof Unauthenticated) return null;
  throw error;
}

/**
 * The passport strategy behind Nest's own `AuthGuard('{guard}')`.
 *
 * passport-jwt checks the signature with the realm's key ring; times, type, issuer, audience,
 * revocation and user go through the same code as `@Authenticated()`. Passport keeps one registry per
 * process: a second application with the same guard name replaces the first one's strategy.
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
        // passport-jwt hands the key to jsonwebtoken, which takes a KeyObject; its own type says string or Buffer.
        done(key ? null : new Error('no key of ours'), key as unknown as Buffer);
      };
      super({
        jwtFromRequest: ({ headers }: { headers: Headers }) => bearerOf(headers) || null,
        secretOrKeyProvider: keyOf,
        algorithms: [keyring.algorithm],
        ignoreExpiration: true,
        jsonWebTokenOptions: { complete: true, ignoreNotBefore: true },
        passReqToCallback: true,
      });
    }

    override authenticate(request: Parameters<Strategy['authenticate']>[0], options?: object): void {
      const preparing = prepareKey(this.keyring, bearerOf(request.headers));
      if (!preparing) return super.authenticate(request, options);
      // A key provider that fails is 401 to passport-jwt; a key set that cannot be read is 503.
      preparing.then(() => super.authenticate(request, options)).catch((error: Error) => this.error(error));
    }

    async validate(
      request: object,
      { header, payload }: { header: VerifiedJws['header']; payload: VerifiedJws['claims'] },
    ) {
      const claims = this.accessTokens.judge({ header, claims: payload });
      const caller = claims && (await this.authenticator.admit(request, claims).catch(unlessRefused));
      // Passport asks the next strategy of `AuthGuard(['api', 'admin'])` after `false`, and none after a throw.
      return caller ? caller.user : false;
    }
  }
  return AccessTokenStrategy;
}
