import { type OptionTree, value } from '../../foundation/config/option-table';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { ChangeKind } from '../../foundation/ports/mail';

declare module '../mail/mail.options' {
  interface MailOptions {
    /**
     * Changes of an account that are mailed to its owner: the listed ones, or with `true` all of them. They are
     * `passwordChanged`, `usernameChanged`, `twoFactorEnabled`, `twoFactorDisabled`, `recoveryCodesReplaced`, `passkeyAdded`,
     * `passkeyRemoved`, `deviceTrusted`, `accountLocked` and `accountDeleted`.
     *
     * @default false
     */
    notices?: readonly ChangeKind[] | boolean;
  }
}

export const NOTICES_OPTIONS = {
  mail: { notices: value<readonly ChangeKind[] | boolean>({ default: false }) },
} satisfies OptionTree;

/** Whether changes of a kind are mailed. Without a kind, whether any are. */
export function isMailed({ mail: { notices } }: GuardConfig, kind?: ChangeKind): boolean {
  if (typeof notices === 'boolean') return notices;
  return kind === undefined ? notices.length > 0 : notices.includes(kind);
}
