import type { Clock } from '../../../kit';
import type { ProviderSettings } from '../provider-options';
import { type FetchRequest, UnusableAnswer, guardedFetch } from './guarded-fetch';
import { type Configuration, type OpenidLibrary, clientAuthentication } from './openid-library';

type KeySet = Parameters<OpenidLibrary['jose']['createLocalJWKSet']>[0];

/** A value that was read at a time of the monotonic clock. */
interface Read<T> {
  readonly value: T;
  readonly at: number;
}

/** Freshness of a discovery document: an endpoint that has moved is found after it. */
const DOCUMENT_MS = 600_000;

/** Freshness of keys, as in `openid-client`: a key that the provider has withdrawn is refused after it. */
const KEYS_MS = 300_000;

/** Minimum time between two reads of the keys, so that tokens with invented `kid`s cannot flood the provider. */
const COOLDOWN_MS = 10_000;

/** The same in `openid-client`, in seconds. It has no option for it. */
const COOLDOWN_OF_LIBRARY = 60;

/** What a document must have to be remembered. Others would be missed only in the middle of a sign-in. */
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

/** The public documents of one provider that a process remembers. */
export class ProviderMemory {
  private document?: Read<string>;
  private reading?: Promise<string>;
  private keys?: Read<KeySet>;

  constructor(private readonly clock: Clock) {}

  /** The discovery document. Concurrent steps share a read. */
  async discoveryDocument(read: () => Promise<string>): Promise<string> {
    const { document } = this;
    if (document && this.ageOf(document) < DOCUMENT_MS) return document.value;
    this.reading ??= read().finally(() => (this.reading = undefined));
    return this.reading;
  }

  /** Remembers a document that the library has accepted. */
  keepDocument(value: string): void {
    if (!this.document || this.ageOf(this.document) >= DOCUMENT_MS)
      this.document = { value, at: this.clock.monotonic() };
  }

  /** The last keys with their age in milliseconds. The libraries read stale ones again. */
  lastKeys(): { readonly jwks: KeySet; readonly ageMs: number } | undefined {
    return this.keys && { jwks: this.keys.value, ageMs: this.ageOf(this.keys) };
  }

  keepKeys(value: KeySet): void {
    this.keys = { value, at: this.clock.monotonic() };
  }

  private ageOf({ at }: Read<unknown>): number {
    return this.clock.monotonic() - at;
  }
}

interface StepParts {
  readonly settings: ProviderSettings;
  readonly memory: ProviderMemory;
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
  /** Remembers keys that the library has read. */
  private keep: () => void = () => undefined;

  constructor(private readonly parts: StepParts) {
    this.settings = parts.settings;
    this.deadline = AbortSignal.timeout(parts.settings.timeoutMs);
  }

  /** The client of the provider. It has the documents that the process remembers. */
  async configuration(): Promise<Configuration> {
    const { settings, library, clock } = this.parts;
    const { client } = library;
    const seconds = clock.seconds();
    const metadata = {
      [client.clockSkew]: seconds - Math.floor(Date.now() / 1000),
      [client.clockTolerance]: settings.clockToleranceSeconds,
    };
    const authentication = await clientAuthentication(library, settings, seconds);
    const configuration = settings.api
      ? new client.Configuration(endpointsOfGithub(settings.issuer), settings.clientId, metadata, authentication)
      : await this.discovered(metadata, authentication);
    configuration[client.customFetch] = this.fetch;
    if (this.isInsecure) client.allowInsecureRequests(configuration);
    this.isConfigured = true;
    return configuration;
  }

  private async discovered(...[metadata, authentication]: Discovery): Promise<Configuration> {
    const { settings, memory, library } = this.parts;
    const { client } = library;
    let text = '';
    const configuration = await client.discovery(
      new URL(settings.issuer),
      settings.clientId,
      metadata,
      authentication,
      {
        [client.customFetch]: async (url, request) => {
          text = await memory.discoveryDocument(() => this.textOf(url, request as FetchRequest));
          return new Response(text, { headers: { 'content-type': 'application/json' } });
        },
        execute: this.isInsecure ? [client.allowInsecureRequests] : [],
      },
    );
    const document = configuration.serverMetadata();
    const { issuer } = document;
    const unusable = ENDPOINTS.find((name) => !this.isUsable(document[name]));
    if (unusable) throw new UnusableAnswer(`the discovery document has no usable ${unusable}`);
    // The library accepts another issuer from some hosts. With tenants, the issuer of each token is checked.
    if (!settings.claims.tenants && new URL(issuer).href !== new URL(settings.issuer).href)
      throw new UnusableAnswer('the discovery document is that of another issuer');
    memory.keepDocument(text);
    // Without it, the library relies on TLS for ID tokens, and ignores their signatures.
    client.enableNonRepudiationChecks(configuration);
    this.shareKeys(configuration);
    return configuration;
  }

  private shareKeys(configuration: Configuration): void {
    const { memory, library } = this.parts;
    const known = memory.lastKeys();
    const now = Math.floor(Date.now() / 1000);
    if (known) {
      // After our cooldown, the library reads the keys again for an unknown one.
      const age = Math.floor(known.ageMs / 1000);
      const uat = now - (known.ageMs < COOLDOWN_MS ? age : Math.max(age, COOLDOWN_OF_LIBRARY));
      library.client.setJwksCache(configuration, { jwks: known.jwks as never, uat });
    }
    const before = library.client.getJwksCache(configuration)?.uat;
    this.keep = () => {
      const after = library.client.getJwksCache(configuration);
      if (after && after.uat !== before) memory.keepKeys(after.jwks as KeySet);
    };
  }

  /** The keys of the provider for `jose`. */
  keySet(configuration: Configuration): ReturnType<OpenidLibrary['jose']['createRemoteJWKSet']> {
    const { memory, settings, library } = this.parts;
    const { jose } = library;
    const known = memory.lastKeys();
    const before = known && Date.now() - known.ageMs;
    const cache: { jwks?: KeySet; uat?: number } = known ? { jwks: known.jwks, uat: before } : {};
    this.keep = () => {
      if (cache.jwks && cache.uat !== before) memory.keepKeys(cache.jwks);
    };
    return jose.createRemoteJWKSet(new URL(configuration.serverMetadata().jwks_uri!), {
      [jose.customFetch]: (url, { headers }) => this.fetch(url, { headers: Object.fromEntries(headers) }),
      [jose.jwksCache]: cache as never,
      cooldownDuration: COOLDOWN_MS,
      cacheMaxAge: KEYS_MS,
      timeoutDuration: settings.timeoutMs,
    });
  }

  end(): void {
    this.keep();
  }

  private isUsable(endpoint: string | undefined): boolean {
    if (endpoint === undefined || !URL.canParse(endpoint)) return false;
    const { protocol } = new URL(endpoint);
    return protocol === 'https:' || (protocol === 'http:' && this.isInsecure);
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

  private async textOf(url: string, request: FetchRequest): Promise<string> {
    const response = await this.fetch(url, request);
    if (response.status !== 200) throw new UnusableAnswer(`${new URL(url).host} answered ${response.status}`);
    return response.text();
  }
}

type Discovery = [metadata: Record<symbol, number>, authentication: Awaited<ReturnType<typeof clientAuthentication>>];

const endpointsOfGithub = (
  url: string,
): { issuer: string; authorization_endpoint: string; token_endpoint: string } => ({
  issuer: `${url}/login/oauth`,
  authorization_endpoint: `${url}/login/oauth/authorize`,
  token_endpoint: `${url}/login/oauth/access_token`,
});
