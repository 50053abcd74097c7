import type { GuardServices } from '../../foundation/realm/feature-data';
import { NewPasswordRequest, RequiredText } from '../../request/http/request-body';

/** Body of `POST /password`. A user without a password omits `current_password`, and sends a confirmation token. */
export class ChangePasswordRequest extends NewPasswordRequest {
  @RequiredText(({ password }) => typeof password !== 'string')
  current_password: string | null = null;
}

/** A change of a password that its user has asked for. */
export interface RequestedChange {
  readonly userId: string;
  /** With the fields that features add. */
  readonly body: ChangePasswordRequest;
}

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** Ends what the user has asked to end together with the former password. Can be repeated. */
    readonly passwordChange?: (services: GuardServices, change: RequestedChange) => Promise<void>;
  }
}
