/**
 * Helpers for the tests of an application: requests as a user, a clock that can be moved, recorded mails and events, an
 * authenticator for passkeys, and a contract for a `UserProvider`. It refuses to be loaded outside of tests.
 *
 * ```ts
 * import { actAs, MovableClock } from '@svc/auth/testing';
 * ```
 *
 * @module @svc/auth/testing
 */

import './refuse-outside-tests';

export { type ActOptions, type ActedUser, actAs } from './act-as';
export { clientAddresses } from './client-limits';
export { MovableClock } from './movable-clock';
export { outOfTheWay } from './client-limits';
export { Outage } from './outage';
export { EventRecorder, MailRecorder, linkIn } from './recorders';
export {
  type Change,
  type CreationOptions,
  type RequestOptions,
  type Sent,
  SoftAuthenticator,
} from '../../features/passkeys/testing';
export { type EnrolledFactor, enrolTwoFactor, totpCode } from '../../features/two-factor/testing';
export {
  type ContractAccount,
  type ContractCheck,
  type UserProviderContract,
  userProviderContract,
} from './user-provider-contract';
