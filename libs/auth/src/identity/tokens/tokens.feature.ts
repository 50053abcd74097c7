import { DISCOVERY_PATH, keySetErrors } from '../../foundation/config/url-checks';
import { Controller, Get, Header, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import type { JsonWebKey } from 'node:crypto';
import { feature } from '../../foundation/config/option-table';
import { AUTH_CONFIG, type AuthConfig, type GuardConfig } from '../../foundation/config/auth-config';
import { Clock } from '../../foundation/platform/clock';
import { AuthConfigError } from '../../foundation/platform/errors';
import { defineFeature } from '../../foundation/realm/feature';
import { OBJECT, listOf, record } from '../../foundation/platform/schema';
import { Declared, PUBLIC_CACHING, PublicRoute, prefixOf, publishAt } from '../../foundation/realm/route';
import { Realm } from '../../foundation/realm/realm';
import { Denylist } from '../denylist/denylist';
import { UnfinishedEnds } from '../denylist/ended-sessions';
import { AccessTokens } from './access-tokens';
import { Authenticator, CallerReader } from './authenticator';
import { KEY_OPTIONS } from './key.options';
import { Keyring } from './keyring';
import { PurposeTokens } from './purpose-tokens';
import { RemoteKeys, keySetSource } from './remote-keys';
import { TokenBindings } from './caller';

/** Publishes the realm's public keys at `GET /jwks`. */
@Controller('jwks')
export class JwksController {
  constructor(private readonly keyring: Keyring) {}

  /** Returns the realm's public keys (RFC 7517 §5). The set is empty under HS256, whose key is secret. */
  @Get()
  @PublicRoute(true)
  @Declared({
    operation: 'jwks',
    summary: 'The public keys that tokens are verified with (RFC 7517)',
    note: 'The list is empty under HS256.',
    answer: record<{ keys: unknown }>({ keys: listOf(OBJECT) }),
    quiet: true,
    unlimited: 'it reads no store, and caches keep the answer',
  })
  @Header('Cache-Control', PUBLIC_CACHING)
  keys(): { keys: JsonWebKey[] } {
    return this.keyring.jwks();
  }
}

/**
 * Publishes the keys of the default guard for gateways, which know its issuer (`keys.discovery`). The document has only what is true
 * of this library: it is no OpenID provider.
 */
@Injectable()
export class Discovery implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly application: ApplicationConfig,
    private readonly keyring: Keyring,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  onModuleInit(): void {
    const { isDefault, issuer, path, keys } = this.realm.options;
    const { httpAdapter } = this.adapterHost;
    if (!isDefault || keys.discovery === undefined || !this.config.routes || !httpAdapter) return;
    const base = issuer.replace(/\/$/, '');
    const jwksUri = base + keys.discovery;
    const document = { issuer, jwks_uri: jwksUri };
    publishAt(httpAdapter, new URL(base + DISCOVERY_PATH).pathname, () => document);
    const { pathname } = new URL(jwksUri);
    // Fastify refuses a second route at one path.
    const route = [path, 'jwks'].filter(Boolean).join('/');
    const own = [prefixOf(this.application, route), route].filter(Boolean).join('/');
    if (pathname !== `/${own}`) publishAt(httpAdapter, pathname, () => this.keyring.jwks());
  }
}

/** Builds a realm's key ring. One that issues tokens needs a signing key. */
export function keyringOf(options: GuardConfig, { verifyOnly, storeTimeoutMs }: AuthConfig, clock: Clock): Keyring {
  const { algorithm, keys } = options;
  const remote =
    keys.jwks === undefined ? undefined : new RemoteKeys(keySetSource(keys.jwks), algorithm, storeTimeoutMs, clock);
  const ring = new Keyring(options, remote);
  if (verifyOnly || ring.canSign) return ring;
  throw new AuthConfigError(
    'keys.private (SVC_PRIVATE_KEY) is missing. Set it, or set verifyOnly to true if this service issues no tokens.',
  );
}

/** Verifies and mints tokens, and publishes the public keys. Every realm has this feature. */
export const tokens = defineFeature('tokens', {
  options: { ...KEY_OPTIONS, features: { denylist: feature({ default: true, env: 'FEATURE_DENYLIST' }) } },
  configErrors: keySetErrors,
  controllers: [JwksController],
  providers: [
    {
      provide: Keyring,
      useFactory: ({ options }: Realm, config: AuthConfig, clock: Clock) => keyringOf(options, config, clock),
      inject: [Realm, AUTH_CONFIG, Clock],
    },
    TokenBindings,
    AccessTokens,
    PurposeTokens,
    Denylist,
    UnfinishedEnds,
    CallerReader,
    Authenticator,
    Discovery,
  ],
});
