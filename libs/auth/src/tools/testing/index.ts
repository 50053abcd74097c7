import './refuse-outside-tests';

export { type ActOptions, type Actor, actAs } from './act-as';
export { EventRecorder } from './event-recorder';
export { MailRecorder, linkIn } from './mail-recorder';
export { MovableClock } from './movable-clock';
export {
  type Change,
  type CreationOptions,
  type RequestOptions,
  type Sent,
  SoftAuthenticator,
} from './soft-authenticator';

export { totpCode } from './totp';
