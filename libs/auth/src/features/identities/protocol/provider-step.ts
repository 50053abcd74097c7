import type { Clock } from '../../../kit';
import type { ProviderSettings } from '../provider-options';
import { endpointsOfGithub } from './github';
import { type FetchRequest, UnusableAnswer, guardedFetch, isHttp } from './guarded-fetch';
import {
  type ClientAuth,
  type Configuration,
  type Jose,
  type OpenidLibrary,
  clientAuthentication,
} from './openid-library';

type KeySet = Parameters<Jose['createLocalJWKSet']>[0];

/** Keys as both libraries remember them, with the time at which they were read. */
interface KeyCache {
  jwks?: KeySet;
  uat?: number;
}

type ClientArguments = readonly [clientId: string, metadata: Record<symbol, number>, authentication: ClientAuth];

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
export interface ProviderMemory {
  document?: Read<string>;
  /** Concurrent steps share a read of the document, and one of the keys. */
  reading?: Promise<string>;
  readingKeys?: Promise<string>;
  keys?: Read<KeySet>;
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
    const of = [settings.clientId, metadata, await clientAuthentication(library, settings, seconds)] as const;
    const configuration = settings.api
      ? new client.Configuration(endpointsOfGithub(settings.issuer), ...of)
      : await this.discovered(...of);
    configuration[client.customFetch] = this.fetch;
    if (this.isInsecure) client.allowInsecureRequests(configuration);
    this.isConfigured = true;
    return configuration;
  }

  private async discovered(...of: ClientArguments): Promise<Configuration> {
    const { settings, memory, library, clock } = this.parts;
    const { client } = library;
    const known = memory.document && this.ageOf(memory.document) < DOCUMENT_MS ? memory.document.value : undefined;
    let text = '';
    const configuration = await client.discovery(new URL(settings.issuer), ...of, {
      [client.customFetch]: async (url, request) => {
        text = known ?? (await this.documentOf(url, request as FetchRequest));
        return new Response(text, { headers: { 'content-type': 'application/json' } });
      },
      execute: this.isInsecure ? [client.allowInsecureRequests] : [],
    });
    const document = configuration.serverMetadata();
    const unusable = ENDPOINTS.find((name) => !this.isUsable(document[name]));
    if (unusable) throw new UnusableAnswer(`the discovery document has no usable ${unusable}`);
    // The library accepts another issuer from some hosts. With tenants, the issuer of each token is checked.
    if (!settings.claims.tenants && new URL(document.issuer).href !== new URL(settings.issuer).href)
      throw new UnusableAnswer('the discovery document is that of another issuer');
    if (known === undefined) memory.document = { value: text, at: clock.monotonic() };
    // Without it, the library relies on TLS for ID tokens, and ignores their signatures.
    client.enableNonRepudiationChecks(configuration);
    this.shareKeys(configuration);
    return configuration;
  }

  private async documentOf(url: string, request: FetchRequest): Promise<string> {
    const { memory } = this.parts;
    return (memory.reading ??= this.textOf(url, request).finally(() => (memory.reading = undefined)));
  }

  private async textOf(url: string, request: FetchRequest): Promise<string> {
    const response = await this.fetch(url, request);
    if (response.status !== 200) throw new UnusableAnswer(`${new URL(url).host} answered ${response.status}`);
    return response.text();
  }

  private shareKeys(configuration: Configuration): void {
    const { client } = this.parts.library;
    const { keys } = this.parts.memory;
    if (keys) {
      // After our cooldown, the library reads the keys again for an unknown one.
      const age = Math.floor(this.ageOf(keys) / 1000);
      const counted = age * 1000 < COOLDOWN_MS ? age : Math.max(age, COOLDOWN_OF_LIBRARY);
      const cache = { jwks: keys.value as never, uat: Math.floor(Date.now() / 1000) - counted };
      client.setJwksCache(configuration, cache);
    }
    this.keepFrom(() => client.getJwksCache(configuration) as KeyCache | undefined);
  }

  /** Reads the keys if they are not known, so that a code is not sent in vain while they cannot be read. */
  async readKeys(configuration: Configuration): Promise<void> {
    const { keys } = this.parts.memory;
    if (keys && this.ageOf(keys) < KEYS_MS) return;
    await this.keySet(configuration).reload();
    this.keep();
    this.shareKeys(configuration);
  }

  /** The keys of the provider for `jose`. */
  keySet(configuration: Configuration): ReturnType<Jose['createRemoteJWKSet']> {
    const { memory, settings, library } = this.parts;
    const { jose } = library;
    const { keys } = memory;
    const cache: KeyCache = keys ? { jwks: keys.value, uat: Date.now() - this.ageOf(keys) } : {};
    this.keepFrom(() => cache);
    return jose.createRemoteJWKSet(new URL(configuration.serverMetadata().jwks_uri!), {
      [jose.customFetch]: async (url, { headers }) => {
        const read = this.textOf.bind(this, url, { headers: Object.fromEntries(headers) });
        memory.readingKeys ??= read().finally(() => (memory.readingKeys = undefined));
        return new Response(await memory.readingKeys, { headers: { 'content-type': 'application/json' } });
      },
      [jose.jwksCache]: cache as never,
      cooldownDuration: COOLDOWN_MS,
      cacheMaxAge: KEYS_MS,
      timeoutDuration: settings.timeoutMs,
    });
  }

  /** At the end of the step, the keys of a library are remembered if it has read them again. */
  private keepFrom(read: () => KeyCache | undefined): void {
    const before = read()?.uat;
    this.keep = () => {
      const { jwks, uat } = read() ?? {};
      if (jwks && uat !== before) this.parts.memory.keys = { value: jwks, at: this.parts.clock.monotonic() };
    };
  }

  end(): void {
    this.keep();
  }

  private ageOf({ at }: Read<unknown>): number {
    return this.parts.clock.monotonic() - at;
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
