/**
 * Access keys for scripts and services. For code that runs in Nest.
 *
 * ```ts
 * import { AcceptsKeys } from '@svc/auth/access-keys';
 * ```
 *
 * @module @svc/auth/access-keys
 */
export { AcceptsKeys } from './accepts-keys';
export { AccessKey } from './access-key.entity';
export { BadScannerSignature, TooManyKeys } from './access-keys.errors';
export { KeyCreated, KeyRevoked, KeyUsedFromNewNetwork } from './access-keys.events';
export { AccessKeyFlow } from './access-keys.controller';
export type { AccessKeysOptions } from './access-keys.options';
export type { CreatedKey, KeySpec } from './access-keys';
export type { KeyOwner, ListedKey } from './access-key.store';
export type { VerifiedKey } from './key-authenticator';
