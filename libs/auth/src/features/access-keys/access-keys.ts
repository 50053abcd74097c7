import { Inject, Injectable } from '@nestjs/common';
import { Realm, deadline, errors, event, http, identity, input, manifest, pg, session } from '../../kit';
import { newAccessKey } from './access-key.format';
import { endsKeys } from './access-key.policy';
import { AccessKeyStore, type EndedKey, type KeyOwner, type ListedKey, type NewKey, wordsOf } from './access-key.store';
import { TooManyKeys } from './access-keys.errors';
import { KeyCreated, KeyRevoked } from './access-keys.events';
import { accessKeysText } from './access-keys.texts';
import { mayGrant, networkOf } from './key-grant';
import { KeySecrets } from './key-authenticator';

/** What a key is for, and where it counts. */
export interface KeySpec {
  /** A name for people, at most 100 characters. */
  readonly label: string;
  /** What it may do, at most what its owner may do at each request. None by default. */
  readonly abilities?: readonly string[];
  /** Days until it expires. Default: `accessKeys.maxDays`; without such a limit, it does not expire. */
  readonly expiresInDays?: number | null;
  /** Addresses and networks (CIDR) from which it is accepted. Default: every network. */
  readonly networks?: readonly string[] | null;
}

/** A key at its creation. */
export interface CreatedKey extends ListedKey {
  /** The text of the key. It is shown once. */
  readonly access_key: string;
}

/** Body of `POST /access-keys`. */
export class NewKeyRequest {
  @input.RequiredText()
  label!: string;

  @input.OptionalList()
  abilities: unknown[] | null = null;

  @input.OptionalNumber()
  expiresInDays: number | null = null;

  @input.OptionalList()
  networks: unknown[] | null = null;
}

const LABEL_MAX = 100;
const NETWORKS_MAX = 20;

/** A key to store, with its text. */
type ShownKey = NewKey & { readonly text: string };

/** Creates, lists and ends the access keys of one guard. */
@Injectable()
export class AccessKeys {
  constructor(
    private readonly store: AccessKeyStore,
    private readonly secrets: KeySecrets,
    private readonly accounts: session.Accounts,
    private readonly users: identity.TimedUserProvider,
    private readonly abilities: http.AbilityResolver,
    private readonly pinnedSessions: session.PinnedSessions,
    private readonly database: pg.Database,
    private readonly denylist: identity.Denylist,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
    @Inject(manifest.MANIFESTS) private readonly manifests: readonly manifest.Feature[],
  ) {}

  /**
   * Creates a key of the caller: with abilities that the caller has now.
   *
   * @throws ValidationFailed, TooManyKeys, SignInRefused; Unauthenticated when the session of the caller has ended in the meantime
   */
  async createOwn(caller: identity.Caller, body: NewKeyRequest): Promise<CreatedKey> {
    const { userId, grant } = caller;
    // An access token of a co-issuer without a session: nothing would end what it has created.
    if (caller.familyId === null) throw new errors.Unauthenticated(true).withReason('invalid_token', userId);
    const row = this.newRow({ userId }, body as KeySpec);
    const { scope: granted } = await this.abilities.resolve(null, userId, row.id);
    const isLimited = granted !== undefined || (await this.pinnedSessions.includes(caller));
    const limits = [...(granted === undefined ? [] : [wordsOf(granted)]), ...(isLimited ? [grant.abilities] : [])];
    if (!limits.every((limit) => mayGrant(wordsOf(row.scope), limit))) throw invalid('abilities', 'auth.key_abilities');
    return this.created(row, await this.accounts.exclusiveForSession(caller, (sql) => this.store.add(sql, row)));
  }

  /**
   * Creates a key for code of the host, which decides about its abilities.
   *
   * @throws ValidationFailed, TooManyKeys, StoreUnavailable; Unauthenticated if there is no such user
   */
  async create(owner: KeyOwner, spec: KeySpec): Promise<CreatedKey> {
    const row = this.newRow(owner, spec);
    const { userId } = owner;
    const added = await (userId === undefined
      ? this.database.transaction((sql) => this.store.add(sql, row))
      : this.accounts.exclusive(userId, (sql) => this.store.add(sql, row)));
    // A deletion of the user deletes the keys afterwards: either it deletes this one, or this check finds no user.
    if (userId !== undefined && !(await this.users.findById(userId))) {
      await this.store.revoke(row.id);
      throw new errors.Unauthenticated(false).withReason('unknown_user', userId);
    }
    return this.created(row, added);
  }

  /** Revokes a key of an owner. An id that is unknown has no effect. @throws StoreUnavailable */
  async revoke(id: string, owner?: KeyOwner, reason: KeyRevoked['reason'] = 'revoked'): Promise<boolean> {
    const ended = pg.isUuid(id) ? await this.store.revoke(id.toLowerCase(), owner) : null;
    if (ended) await this.announce([ended], reason);
    return ended !== null;
  }

  /** The hook `endCredentials`. */
  async endWithSessions(reason: string, userId?: string): Promise<void> {
    if (endsKeys(reason, this.manifests)) await this.endAll(userId);
  }

  /** Ends the keys of a user or, without one, of the guard. Can be repeated. */
  async endAll(userId?: string, since?: Date): Promise<void> {
    for (let after: string | null = pg.FIRST_ID; after !== null;) {
      const page: Awaited<ReturnType<AccessKeyStore['revokePage']>> = await this.store.revokePage(after, userId, since);
      if (page.ended.length) await this.announce(page.ended, 'account');
      after = page.next;
    }
  }

  private created({ owner, id, text }: ShownKey, added: ListedKey | null): CreatedKey {
    if (!added) throw new TooManyKeys();
    this.events.emit(new KeyCreated(this.realm.guard, owner.userId ?? null, owner.service ?? null, id));
    return { ...added, access_key: text };
  }

  /** The row decides on the primary. The denial is for a server of PostgreSQL that is lost before the row was copied. */
  private async announce(ended: readonly EndedKey[], reason: KeyRevoked['reason']): Promise<void> {
    await deadline.bestEffort('denying revoked access keys', () => this.denylist.deny(ended.map(({ id }) => id)));
    for (const { userId, service, id } of ended)
      this.events.emit(new KeyRevoked(this.realm.guard, userId, service, id, reason));
  }

  /** @throws ValidationFailed */
  private newRow(owner: KeyOwner, spec: KeySpec): ShownKey {
    const { prefix, maxDays } = this.realm.options.accessKeys;
    const { label, abilities, networks } = spec;
    const fault = input.fieldFault(label, { maxLength: LABEL_MAX });
    if (fault)
      throw new errors.ValidationFailed({ label: [{ key: fault, params: { field: 'label', max: LABEL_MAX } }] });
    const days = spec.expiresInDays ?? (maxDays || null);
    if (days !== null && !(Number.isInteger(days) && days >= 1 && days <= (maxDays || 3650)))
      throw invalid('expires_in_days', 'auth.key_expiry', { days: maxDays || 3650 });
    const named = (networks ?? []).map(networkOf);
    if (named.includes(null) || named.length > NETWORKS_MAX) throw invalid('networks', 'auth.key_networks');
    const { id, secret, text } = newAccessKey(prefix);
    return {
      id,
      text,
      owner,
      label,
      scope: scopeIn(abilities ?? []),
      networks: [...new Set(named as string[])],
      mac: this.secrets.macOf(id, secret),
      days,
    };
  }
}

/** @throws ValidationFailed for names that no token can have */
function scopeIn(abilities: readonly unknown[]): string {
  try {
    return http.scopeOf(abilities);
  } catch {
    throw new errors.ValidationFailed({ abilities: [{ key: 'validation.invalid', params: { field: 'abilities' } }] });
  }
}

const invalid = (field: string, ...text: Parameters<typeof accessKeysText>): errors.AuthException =>
  new errors.ValidationFailed({ [field]: [accessKeysText(...text)] });
