import {
  Realm,
  data,
  defineFeature,
  event,
  identity,
  limiter,
  mailing,
  schema,
  session,
  type settings,
} from '../../kit';
import { KeyGate } from './accepts-keys';
import { isKeyPrefix } from './access-key.format';
import { AccessKey, CreateSvcAccessKeys1764700000000 } from './access-key.entity';
import { AccessKeyStore } from './access-key.store';
import { AccessKeys } from './access-keys';
import { KEY_COMMAND } from './access-keys.command';
import { AccessKeyFlow, AccessKeysController, EndKeysField, LISTED } from './access-keys.controller';
import { ACCESS_KEY_REASONS } from './access-keys.errors';
import { ACCESS_KEY_EVENTS, KeyCreated, KeyRevoked, KeyUsedFromNewNetwork } from './access-keys.events';
import { ACCESS_KEYS_OPTIONS, ACCESS_KEY_SCANNING_OPTIONS } from './access-keys.options';
import { KeyAuthenticator, KeySecrets, KeyUses } from './key-authenticator';
import { LeakedKeys, LeakedKeysController } from './leaked-keys';

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof ACCESS_KEY_REASONS> {}
}

const prefixErrors = ({ features, accessKeys, nameOf }: settings.GuardConfig): string[] =>
  features.accessKeys && !isKeyPrefix(accessKeys.prefix)
    ? [
        `${nameOf('accessKeys.prefix')} (SVC_ACCESS_KEYS_PREFIX) must have 2 to 16 characters of a-z and 0-9, and begin with a letter, such as "shop".`,
      ]
    : [];

/** Counts the requests with a key, and no others. */
const perKey: limiter.LimiterOf =
  ({ accessKeys }) =>
  (request) => {
    const keyId = identity.callerOf(request as object)?.keyId;
    return keyId === undefined ? [] : { ...accessKeys, key: `key|${keyId}` };
  };

/** Access keys for scripts and services. */
export const accessKeys = defineFeature('accessKeys', {
  flags: ['accessKeys'],
  reasons: ACCESS_KEY_REASONS,
  languages: () => (require('./access-keys.languages') as typeof import('./access-keys.languages')).accessKeysLanguages,
  options: ACCESS_KEYS_OPTIONS,
  configErrors: ({ guards }) => guards.flatMap(prefixErrors),
  capabilities: { accessKeys: AccessKeyFlow },
  // Not that of confirmations: a creation guesses no secret, and must leave the guesses to the person.
  limits: { 'svc-key-create': limiter.perUser(limiter.twice(({ confirm }) => confirm)) },
  controllers: [AccessKeysController],
  fields: [{ to: session.ChangePasswordRequest, from: EndKeysField }],
  mails: {
    accessKeyCreated: mailing.CHANGE_MAIL,
    accessKeyLeaked: mailing.CHANGE_MAIL,
    accessKeyNewNetwork: mailing.CHANGE_MAIL,
  },
  informs: {
    accessKeyCreated: [event.informOn(KeyCreated, ({ userId }) => userId)],
    accessKeyLeaked: [event.informOn(KeyRevoked, ({ userId, reason }) => (reason === 'leaked' ? userId : null))],
    accessKeyNewNetwork: [event.informOn(KeyUsedFromNewNetwork, ({ userId }) => userId)],
  },
  events: ACCESS_KEY_EVENTS,
  exportedIfUsed: { access_keys: schema.listOf(LISTED) },
  commands: { key: KEY_COMMAND },
  providers: [AccessKeys, KeyAuthenticator, KeyUses],
  on: {
    endCredentials: (services, reason, userId) => services.get(AccessKeys).endWithSessions(reason, userId),
    passwordChange: async (services, { userId, body }) => {
      if ((body as Partial<EndKeysField>).endAccessKeys) await services.get(AccessKeys).endAll(userId);
    },
    removeCredential: {
      kind: 'access_keys',
      remove: (services, { userId, id }) => services.get(AccessKeys).revoke(id, { userId }),
    },
    // They may have been created by the other person. After the sessions have ended, which create them.
    takeover: async (services, { userId, since }) => {
      await services.get(AccessKeys).endAll(userId, since);
      return false;
    },
  },
  data: {
    entities: [{ entity: AccessKey, migration: CreateSvcAccessKeys1764700000000 }],
    stores: [AccessKeyStore],
    export: {
      access_keys: async (services, userId) =>
        data.ifUsed(
          await services.get(AccessKeyStore).list({ userId }),
          services.get(Realm).options.features.accessKeys,
        ),
    },
    erase: [data.rowsOfUser(AccessKey)],
    prune: { accessKeys: { title: 'access keys', run: (services) => services.get(AccessKeyStore).prune() } },
  },
});

/** What routes of the host need, also where the feature is off: `@AcceptsKeys()` says then that it is. */
export const acceptsKeys = defineFeature('acceptsKeys', {
  limits: { 'svc-key': perKey },
  providers: [KeyGate, KeySecrets],
});

/** The end of keys that a scanner of secrets has found. */
export const accessKeyScanning = defineFeature('accessKeyScanning', {
  flags: ['accessKeyScanning'],
  options: ACCESS_KEY_SCANNING_OPTIONS,
  needs: ['accessKeys'],
  configErrors: ({ guards }) =>
    guards
      .filter(({ features, accessKeys: { scannerKeys } }) => features.accessKeyScanning && !scannerKeys)
      .map(
        ({ nameOf }) =>
          `features.accessKeyScanning needs ${nameOf('accessKeys.scannerKeys')}: the public keys of the scanner.`,
      ),
  defaultGuardControllers: [LeakedKeysController],
  providers: [LeakedKeys],
});
