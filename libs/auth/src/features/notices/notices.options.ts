import { type mailing, option, type settings } from '../../kit';

declare module '../mail/mail.options' {
  interface MailOptions {
    /**
     * Changes of an account that are mailed to its owner: the listed ones, or with `true` all of them. The page of the mails
     * lists them, such as `passwordChanged` and `accountLocked`.
     *
     * @default false
     */
    notices?: readonly mailing.ChangeKind[] | boolean;
  }
}

export const NOTICES_OPTIONS = {
  mail: { notices: option.value<readonly mailing.ChangeKind[] | boolean>({ default: false }) },
} satisfies option.OptionTree;

/** Whether changes of a kind are mailed. Without a kind, whether any are. */
export function isMailed({ mail: { notices } }: settings.GuardConfig, kind?: mailing.ChangeKind): boolean {
  if (typeof notices === 'boolean') return notices;
  return kind === undefined ? notices.length > 0 : notices.includes(kind);
}
