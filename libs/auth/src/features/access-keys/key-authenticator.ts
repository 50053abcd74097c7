import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock, Realm, crypto, deadline, errors, http, identity, settings, event } from '../../kit';
import { parseAccessKey } from './access-key.format';
import { type KeyRefusal, type PresentedKey, refusalOfKey } from './access-key.policy';
import { AccessKeyStore, type KeyUse, wordsOf } from './access-key.store';
import { effectiveAbilities, isInNetworks, placeOf } from './key-grant';
import { KeyUsedFromNewNetwork } from './access-keys.events';

/** Milliseconds for which uses are collected. */
const FLUSH_MS = 60_000;

/** The largest number of uses that are collected, and that one statement records. */
const AT_ONCE = 1_000;

/**
 * Records when, and from which networks, keys are used: at most once a minute for a key and a network, after the response. A process
 * that ends without a shutdown loses the last minute.
 */
@Injectable()
export class KeyUses implements OnModuleDestroy {
  private readonly waiting = new Map<string, KeyUse>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: AccessKeyStore,
    private readonly events: event.AuthEvents,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /** @param macOf computes the HMAC under the current root, once for what is recorded */
  note(id: string, ip: unknown, macOf: () => string): void {
    const place = placeOf(ip);
    const name = `${id} ${place}`;
    const mac = this.waiting.get(name)?.mac ?? macOf();
    this.waiting.set(name, { id, place, mac, at: new Date(this.clock.now()) });
    if (this.waiting.size >= AT_ONCE) void this.flush();
    else this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    await this.flush();
  }

  /** Records what is waiting. An error is logged: no request depends on it. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const uses = [...this.waiting.values()];
    this.waiting.clear();
    if (!uses.length) return Promise.resolve();
    const { guard } = this.realm;
    return deadline.bestEffort('recording uses of access keys', async () => {
      for (const { id, userId, service, place } of await this.store.record(uses))
        this.events.emit(new KeyUsedFromNewNetwork(guard, userId, service, id, place));
    });
  }
}

declare module '../../identity/tokens/caller' {
  interface Caller {
    /** The id of the access key with which the request was made; undefined for an access token. */
    readonly keyId?: string;
    /** The name of the service whose access key it is; `user` is null then, and `userId` empty. */
    readonly service?: string;
  }
}

/** A key that is accepted now. */
export interface VerifiedKey {
  readonly keyId: string;
  /** The id of its user; null for a key of a service. */
  readonly userId: string | null;
  /** The name of its service; null for a key of a user. */
  readonly service: string | null;
  /** What it may do now. */
  readonly abilities: readonly string[];
}

/** Signs the secrets of keys, for their rows. The roots are those of the encryption at rest, and of the refresh tokens without it. */
@Injectable()
export class KeySecrets {
  private readonly signatures: crypto.Signatures;

  constructor(
    private readonly realm: Realm,
    @Inject(settings.AUTH_CONFIG) { encryption }: settings.AuthConfig,
  ) {
    this.signatures = new crypto.Signatures(crypto.rootsOf(realm.options, encryption), 'svc:access-key');
  }

  /** Binds the secret to its guard and its id, so that a row cannot take the place of another one. */
  macOf(id: string, secret: string): string {
    return this.signatures.sign(`${this.realm.guard}:${id}:${secret}`);
  }

  matches(id: string, secret: string, mac: string): boolean {
    return this.signatures.verify(`${this.realm.guard}:${id}:${secret}`, mac);
  }
}

/** Authenticates a request by its access key. */
@Injectable()
export class KeyAuthenticator {
  private readonly answers = new Map<string, { readonly until: number; readonly key: VerifiedKey | null }>();

  constructor(
    private readonly store: AccessKeyStore,
    private readonly secrets: KeySecrets,
    private readonly denylist: identity.Denylist,
    private readonly standings: identity.AccountStandings,
    private readonly abilities: http.AbilityResolver,
    private readonly uses: KeyUses,
    private readonly users: identity.TimedUserProvider,
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {}

  /** Whether a credential means to be a key: nothing else that the library accepts has an underscore at this place. */
  isKey(credential: string): boolean {
    return credential.startsWith(`${this.realm.options.accessKeys.prefix}_`);
  }

  /**
   * The caller of a request with a key. Its claims have expired, so that it gets no ticket, and nothing keeps it.
   *
   * @throws Unauthenticated, the same one for every key that is not accepted; StoreUnavailable
   */
  async callerOf(text: string, ip: unknown): Promise<identity.Caller> {
    const { key, user } = await this.check(text, ip);
    const { guard, options } = this.realm;
    const userId = key.userId ?? '';
    const scope = key.abilities.join(' ');
    return {
      guard,
      userId,
      familyId: null,
      grant: new identity.Grant(key.abilities),
      claims: { iss: options.issuer, aud: [...options.audience], sub: userId, exp: 0, scope, pin: true },
      user: user as object,
      keyId: key.keyId,
      ...(key.service !== null && { service: key.service }),
    };
  }

  /** Reads a key, and records its use. @throws Unauthenticated, StoreUnavailable */
  async verify(text: string, ip: unknown): Promise<VerifiedKey> {
    return (await this.check(text, ip)).key;
  }

  private async check(text: string, ip: unknown): Promise<{ key: VerifiedKey; user: object | null }> {
    const parts = parseAccessKey(text, this.realm.options.accessKeys.prefix);
    // Without a call of a store: a typo, and a flood of random texts.
    if (!parts) throw refused('invalid_key');
    if (this.config.verifyOnly) return this.ask(text, ip);
    const { id, secret } = parts;
    const reading = deadline.withinDeadline('PostgreSQL', this.config.storeTimeoutMs, this.store.find(id));
    const [found, isDenied] = await Promise.all([reading, this.denylist.deniesFamily(id)]);
    const row = found?.row;
    const networks = wordsOf(row?.svc_networks ?? '');
    const presented: PresentedKey = {
      isKnown: row?.svc_guard === this.realm.guard,
      // An unknown id costs the same HMAC.
      isSecret: this.secrets.matches(id, secret, row?.svc_mac ?? ''),
      isRevoked: row?.svc_revoked === true,
      isDenied,
      isExpired: row?.svc_expired === true,
      isInNetwork: !networks.length || isInNetworks(ip, networks),
    };
    // The end was committed on a server of PostgreSQL that was lost since.
    if (isDenied && presented.isSecret && !presented.isRevoked)
      void deadline.bestEffort('finishing the end of an access key', () => this.store.revoke(id));
    const refusal = refusalOfKey(presented);
    if (!found || refusal) throw refused(refusal ?? 'unknown_key', presented.isSecret ? row?.svc_user : null);
    const { svc_user: userId, svc_service: service, svc_scope: scope } = found.row;
    // Code of the host is asked only about a key that is right. A service has no user, and may use it until it ends.
    const user = await found.user();
    if (userId !== null && !(user && (await this.standings.of(userId, true)) === 'good'))
      throw refused('key_owner', userId);
    // Undefined where no token has abilities.
    const granted = userId === null ? undefined : (await this.abilities.resolve(null, userId, id)).scope;
    const abilities = effectiveAbilities(wordsOf(scope), granted === undefined ? null : wordsOf(granted));
    this.uses.note(id, ip, () => this.secrets.macOf(id, secret));
    return { key: { keyId: id, userId, service, abilities }, user };
  }

  /** In a service that only verifies: the issuer decides. */
  private async ask(text: string, ip: unknown): Promise<{ key: VerifiedKey; user: object | null }> {
    const { verifier, verifierCacheSeconds } = this.realm.options.accessKeys;
    const client = { ip: typeof ip === 'string' ? ip : null };
    // A network of the key may refuse another client.
    const name = crypto.sha256(`${client.ip}:${text}`);
    const known = this.answers.get(name);
    let key = known && known.until > this.clock.monotonic() ? known.key : undefined;
    if (key === undefined) {
      // Before the question: the issuer may have decided when it was asked.
      const until = this.clock.monotonic() + verifierCacheSeconds * 1000;
      key = await this.askIssuer(() => verifier!(text, client));
      if (verifierCacheSeconds > 0) this.keep(name, { until, key });
    }
    if (!key) throw refused('unknown_key');
    const user = key.userId === null ? null : await this.users.findById(key.userId);
    if (key.userId !== null && !user) throw refused('key_owner', key.userId);
    return { key, user };
  }

  /** @throws StoreUnavailable without an answer in time, and for one that has another form */
  private async askIssuer(ask: () => Promise<unknown>): Promise<VerifiedKey | null> {
    const name = 'accessKeys.verifier';
    const answer = await deadline
      .withTimeout(name, this.config.storeTimeoutMs, (async () => ask())())
      .catch((cause: unknown) => Promise.reject(new errors.StoreUnavailable(name, cause)));
    if (answer === null || answer === undefined) return null;
    if (isVerifiedKey(answer)) return answer;
    throw new errors.StoreUnavailable(name, new Error('it returned no VerifiedKey'));
  }

  /** The oldest answers go first. */
  private keep(name: string, answer: { readonly until: number; readonly key: VerifiedKey | null }): void {
    this.answers.delete(name);
    this.answers.set(name, answer);
    if (this.answers.size > ANSWERS) this.answers.delete(this.answers.keys().next().value!);
  }
}

/** Whether an answer of the issuer is a key of a user or of a service. Pure. */
function isVerifiedKey(answer: unknown): answer is VerifiedKey {
  const { keyId, userId, service, abilities } = Object(answer) as Partial<Record<keyof VerifiedKey, unknown>>;
  const [isUsers, isServices] = [userId, service].map((owner) => typeof owner === 'string' && owner !== '');
  const isOwned = (isUsers && service === null) || (isServices && userId === null);
  const areNames = Array.isArray(abilities) && abilities.every((name) => typeof name === 'string');
  return typeof keyId === 'string' && Boolean(isOwned) && areNames;
}

/** Number of answers of the issuer that are kept. */
const ANSWERS = 10_000;

const refused = (reason: KeyRefusal | 'invalid_key' | 'key_owner', userId?: string | null): errors.AuthException =>
  new errors.Unauthenticated(true).withReason(reason, userId);
