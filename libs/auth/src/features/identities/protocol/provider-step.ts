import type { Clock } from '../../../kit';
import type { ProviderSettings } from '../provider-options';
import { endpointsOfGithub } from './github';
import { type FetchRequest, UnusableAnswer, guardedFetch, isHttp } from './guarded-fetch';
import {
  type ClientAuth,
  type Configuration,
  type Jose,
  type OpenidLibrary,
  type TokenKey,
  clientAuthentication,
} from './openid-library';

type KeySet = Parameters<Jose['createLocalJWKSet']>[0];

type ClientArguments = readonly [clientId: string, metadata: Record<symbol, number>, authentication: ClientAuth];

/** Freshness of a discovery document: an endpoint that has moved is found after it. */
const DOCUMENT_MS = 600_000;

/** Freshness of keys, as in `openid-client`: a key that the provider has withdrawn is refused after it. */
const KEYS_MS = 300_000;

/** Minimum time between two reads of the keys, so that tokens with invented `kid`s cannot flood the provider. */
const COOLDOWN_MS = 10_000;

/** The age in seconds from which `openid-client` asks for the keys again. It has no option for it. */
const COOLDOWN_OF_LIBRARY = 60;

/** What a document must have to be remembered. Others would be missed only in the middle of a sign-in. */
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

/** The public documents of one provider that a process remembers. */
export class ProviderDocuments {
  private readonly known: Record<string, { readonly value: Promise<unknown>; readonly at: number } | undefined> = {};

  constructor(private readonly clock: Clock) {}

  /** A document that is not older than `maxAgeMs`. Concurrent steps share a read. One that fails changes nothing. */
  get<T>(name: 'discovery' | 'keys', maxAgeMs: number, read: () => Promise<T>): Promise<T> {
    const before = this.known[name];
    if (before && this.clock.monotonic() - before.at < maxAgeMs) return before.value as Promise<T>;
    const value = read();
    this.known[name] = { value, at: this.clock.monotonic() };
    value.catch(() => {
      if (this.known[name]?.value === value) this.known[name] = before;
    });
    return value;
  }
}

interface StepParts {
  readonly settings: ProviderSettings;
  readonly documents: ProviderDocuments;
  readonly library: OpenidLibrary;
  readonly clock: Clock;
  readonly production: boolean;
}

/** One step with a provider. Its requests have one deadline together. */
export class ProviderStep {
  /** The first request without a usable answer. */
  failure?: Error;
  /** Whether the provider may have received the code. */
  codeSent = false;
  /** Whether the discovery document was accepted. */
  isConfigured = false;
  readonly settings: ProviderSettings;
  private readonly deadline: AbortSignal;

  constructor(private readonly parts: StepParts) {
    this.settings = parts.settings;
    this.deadline = AbortSignal.timeout(parts.settings.timeoutMs);
  }

  /** The client of the provider. */
  async configuration(): Promise<Configuration> {
    const { settings, library, clock } = this.parts;
    const { client } = library;
    const seconds = clock.seconds();
    const metadata = {
      [client.clockSkew]: seconds - Math.floor(Date.now() / 1000),
      [client.clockTolerance]: settings.clockToleranceSeconds,
    };
    const of = [settings.clientId, metadata, await clientAuthentication(library, settings, seconds)] as const;
    const configuration = settings.api
      ? new client.Configuration(endpointsOfGithub(settings.issuer), ...of)
      : await this.discovered(of);
    const keysAt = configuration.serverMetadata().jwks_uri;
    const isOfKeys = (url: string): boolean => keysAt !== undefined && url === new URL(keysAt).href;
    // Only for an unknown key does the library ask for the keys that it has got already.
    configuration[client.customFetch] = async (url, request) =>
      isOfKeys(url) ? documentOf(JSON.stringify(await this.keys(url, COOLDOWN_MS))) : this.fetch(url, request);
    if (this.isInsecure) client.allowInsecureRequests(configuration);
    this.isConfigured = true;
    return configuration;
  }

  private async discovered(of: ClientArguments): Promise<Configuration> {
    const text = await this.parts.documents.get('discovery', DOCUMENT_MS, async () => {
      let read = '';
      await this.accepted(of, async (url, request) => (read = await this.textOf(url, request)));
      return read;
    });
    return this.accepted(of, async () => text);
  }

  private async accepted(
    of: ClientArguments,
    read: (url: string, request: FetchRequest) => Promise<string>,
  ): Promise<Configuration> {
    const { client } = this.parts.library;
    const { issuer, claims } = this.settings;
    const configuration = await client.discovery(new URL(issuer), ...of, {
      [client.customFetch]: async (url, request) => documentOf(await read(url, request as FetchRequest)),
      execute: this.isInsecure ? [client.allowInsecureRequests] : [],
    });
    const document = configuration.serverMetadata();
    const unusable = ENDPOINTS.find((name) => !this.isUsable(document[name]));
    if (unusable) throw new UnusableAnswer(`the discovery document has no usable ${unusable}`);
    // The library accepts another issuer from some hosts. With tenants, the issuer of each token is checked.
    if (!claims.tenants && new URL(document.issuer).href !== new URL(issuer).href)
      throw new UnusableAnswer('the discovery document is that of another issuer');
    // Without it, the library relies on TLS for ID tokens, and ignores their signatures.
    client.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  /** Gives the library the keys, so that a code is not sent in vain while they cannot be read. */
  async readKeys(configuration: Configuration): Promise<void> {
    const jwks = (await this.keys(configuration.serverMetadata().jwks_uri!)) as never;
    const uat = Math.floor(Date.now() / 1000) - COOLDOWN_OF_LIBRARY;
    this.parts.library.client.setJwksCache(configuration, { jwks, uat });
  }

  /** The keys of the provider for `jose`. For an unknown one, they are read again. */
  keySet(configuration: Configuration): TokenKey {
    const { jose } = this.parts.library;
    const keysAt = configuration.serverMetadata().jwks_uri!;
    return async (...token) => {
      const find = async (maxAgeMs?: number) => jose.createLocalJWKSet(await this.keys(keysAt, maxAgeMs))(...token);
      return find().catch((error: unknown) => {
        if (error instanceof jose.errors.JWKSNoMatchingKey) return find(COOLDOWN_MS);
        throw error;
      });
    };
  }

  private keys(url: string, maxAgeMs = KEYS_MS): Promise<KeySet> {
    return this.parts.documents.get('keys', maxAgeMs, async () => {
      const keys = JSON.parse(await this.textOf(url, {})) as KeySet;
      // Throws for what is no set of keys.
      this.parts.library.jose.createLocalJWKSet(keys);
      return keys;
    });
  }

  private async textOf(url: string, request: FetchRequest): Promise<string> {
    const response = await this.fetch(url, request);
    if (response.status !== 200) throw new UnusableAnswer(`${new URL(url).host} answered ${response.status}`);
    return response.text();
  }

  private isUsable(endpoint: string | undefined): boolean {
    return endpoint !== undefined && URL.canParse(endpoint) && isHttp(new URL(endpoint), this.isInsecure);
  }

  /** Plain HTTP is for a provider on the own machine, and never in production. */
  private get isInsecure(): boolean {
    return !this.parts.production && this.settings.issuer.startsWith('http:');
  }

  private readonly fetch = async (url: string, request: object): Promise<Response> => {
    const { method } = request as FetchRequest;
    try {
      return await guardedFetch(url, request, {
        allowHttp: this.isInsecure,
        allowPrivate: !this.parts.production || this.settings.allowPrivateNetwork,
        signal: this.deadline,
        // Only the exchange posts something.
        connected: () => void (this.codeSent ||= method === 'POST'),
      });
    } catch (error) {
      this.failure ??= error as Error;
      throw error;
    }
  };
}

const documentOf = (text: string): Response => new Response(text, { headers: { 'content-type': 'application/json' } });
