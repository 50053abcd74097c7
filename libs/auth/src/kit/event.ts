/** Events of a guard, their lines in the security log, and the mails that they cause. */
export { SecurityLog, printable } from '../foundation/observability/security-log';
export { AuthEvents } from '../foundation/platform/auth-events';
export type { Outcome, SecurityEvent, SecurityLine } from '../foundation/platform/catalogue';
export {
  type ChangeContext,
  type ChangeSource,
  type CredentialChange,
  type InformOwner,
  informOn,
  userIdOf,
} from '../foundation/realm/informing';
export { type LoggedEvents, ofSession, ofUser } from '../foundation/realm/log-events';
