import { Controller, Param, type Type } from '@nestjs/common';
import { errors, http, type identity, input, pg, schema } from '../../kit';
import { AccessKeyStore, type KeyOwner, type ListedKey } from './access-key.store';
import { AccessKeys, type CreatedKey, type KeySpec, NewKeyRequest } from './access-keys';
import { TooManyKeys } from './access-keys.errors';
import { KeyAuthenticator, type VerifiedKey } from './key-authenticator';

const FIELDS = {
  id: schema.UUID,
  label: schema.TEXT,
  abilities: schema.of(schema.listOf(schema.TEXT), 'At most what the owner may do at the time of a request.'),
  networks: schema.of(schema.orNull(schema.listOf(schema.TEXT)), 'From which it is accepted; null for every network.'),
  created_at: schema.TIME,
  expires_at: schema.orNull(schema.TIME),
  last_used_at: schema.of(schema.orNull(schema.TIME), 'It may be missing for a minute.'),
};

/** The schema of a key in the list and in the export of an account. */
export const LISTED = schema.namedSchema('AuthAccessKey', schema.record<ListedKey>(FIELDS));

const CREATED = schema.record<CreatedKey>({ ...FIELDS, access_key: schema.of(schema.TEXT, 'Shown only here.') });

@Controller('access-keys')
export class AccessKeysController {
  constructor(
    private readonly keys: AccessKeys,
    private readonly store: AccessKeyStore,
  ) {}

  @http.Route('GET', '', 'access_keys_list', {
    summary: 'Lists the access keys of the caller',
    gates: [http.RequireIfPinned('svc.account')],
    unlimited: 'it reads the access keys of the caller',
    answer: http.listed(LISTED),
    quiet: true,
  })
  list(@http.CurrentCaller() { userId }: identity.Caller): Promise<ListedKey[]> {
    return this.store.list({ userId });
  }

  @http.Route('POST', '', 'access_key_create', {
    summary: 'Creates an access key of the caller',
    note: 'Without `expires_in_days`, it has the longest life that is allowed. Answers 409 for one key too many.',
    gates: [http.RequireIfPinned('svc.account'), http.RequireConfirmation()],
    limiter: 'svc-key-create',
    answer: CREATED,
    headers: { 'Cache-Control': 'no-store' },
    refusals: [TooManyKeys, http.signInRefusal],
  })
  create(@http.CurrentCaller() caller: identity.Caller, @http.RequestBody() body: NewKeyRequest): Promise<CreatedKey> {
    return this.keys.createOwn(caller, body);
  }

  /** No confirmation: an end must always be possible. */
  @http.Route('DELETE', ':svcAccessKey', 'access_key_revoke', {
    summary: 'Revokes an access key of the caller',
    note: 'An id that is unknown has no effect.',
    parameters: { svcAccessKey: schema.of(schema.UUID, 'The id of an access key.') },
    gates: [http.RequireIfPinned('svc.account')],
    unlimited: 'it ends a key of the caller',
  })
  async revoke(@http.CurrentCaller() { userId }: identity.Caller, @Param('svcAccessKey') id: string): Promise<void> {
    await this.keys.revoke(id, { userId });
  }
}

/** A field of `POST /password`. */
export class EndKeysField {
  /** Whether the access keys end together with the former password. */
  @input.OptionalFlag()
  endAccessKeys: boolean | null = null;
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Access keys of users and of services. */
    readonly accessKeys: AccessKeyFlow;
  }
}

/**
 * Access keys of users and of services, for code of the host. Needs `features.accessKeys`.
 *
 * @publicApi
 */
export class AccessKeyFlow extends http.Flow {
  /**
   * Creates a key of a service, which has no user, or of a user. Code of the host decides who may do it, and which abilities it gets.
   * Its member `access_key` is the text of the key, which is not stored.
   *
   * @example await auth.accessKeys.create({ service: 'ci' }, { label: 'deploy', abilities: ['releases.write'], expiresInDays: 90 })
   * @throws ValidationFailed, TooManyKeys, StoreUnavailable; Unauthenticated if there is no such user
   */
  async create(owner: KeyOwner, spec: KeySpec): Promise<CreatedKey> {
    return this.enabled(AccessKeys).create(owner, spec);
  }

  /** The keys of a service or of a user that were not revoked. */
  async listOf(owner: KeyOwner): Promise<ListedKey[]> {
    return this.enabled(AccessKeyStore).list(owner);
  }

  /** Revokes any key by its id. Resolves to whether there was one that had not ended. @throws StoreUnavailable */
  async revokeAny(id: string): Promise<boolean> {
    return this.enabled(AccessKeys).revoke(id);
  }

  /**
   * Checks the text of a key, for a service without the tables: see `accessKeys.verifier`. A use of it counts.
   *
   * @param client.ip the address from which the service got the key; a key with networks is refused without it
   * @throws Unauthenticated for every key that is not accepted; StoreUnavailable
   */
  async verify(key: string, client: { readonly ip?: string | null } = {}): Promise<VerifiedKey> {
    return this.enabled(KeyAuthenticator).verify(key, client.ip);
  }

  /** As `GET /access-keys`: lists the keys of the caller. @throws Unauthenticated, InsufficientScope */
  list(source: http.CallSource): Promise<ListedKey[]> {
    return this.call(AccessKeysController, 'list', source);
  }

  /**
   * As `POST /access-keys`: creates a key of the caller.
   *
   * @throws Unauthenticated, InsufficientScope, ConfirmationRequired, ValidationFailed, TooManyKeys, TooManyRequests, SignInRefused
   */
  createOwn(spec: KeySpec, source: http.CallSource): Promise<CreatedKey> {
    return this.call(AccessKeysController, 'create', source, { ...spec });
  }

  /** As `DELETE /access-keys/:id`. An unknown id has no effect. @throws Unauthenticated, InsufficientScope */
  revoke(id: string, source: http.CallSource): Promise<void> {
    return this.call(AccessKeysController, 'revoke', source, { svcAccessKey: id });
  }

  /** @throws AuthConfigError where the feature is off, and within a transaction of the host */
  private enabled<S>(service: Type<S>): S {
    pg.refuseWithin('A call of accessKeys');
    const { guard, options } = this.scope.realm;
    if (options.features.accessKeys && this.scope.has(service)) return this.get(service);
    throw http.untold(new errors.AuthConfigError(`The guard "${guard}" does not have features.accessKeys.`));
  }
}
