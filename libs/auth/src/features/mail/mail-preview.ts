import type { Language } from '../../foundation/platform/language';
import {
  MAIL_KINDS,
  type MailContent,
  type MailInput,
  type MailKind,
  type NoticeKind,
} from '../../foundation/ports/mail';
import type { AccountMails } from './mail.feature';

/** The content of a mail with example data. */
export interface MailPreview extends MailContent {
  readonly kind: MailKind;
}

const TIME = new Date('2026-11-25T14:03:00Z');
const TO = 'ada@example.com';
const NOTICE = { to: TO, time: TIME };
const LINK = { to: TO, url: 'https://app.example.com/example?token=8e2d1c40b7a94f6f9c1be3a05d7724f1', minutes: 60 };

/** The data of the examples. The links lead nowhere. */
const EXAMPLES: { readonly [Kind in Exclude<MailKind, NoticeKind>]: Omit<MailInput<Kind>, 'user'> } = {
  passwordReset: LINK,
  emailVerification: LINK,
  existingAccount: { to: TO },
  newSignIn: {
    ...LINK,
    minutes: 1440,
    time: TIME,
    ip: '203.0.113.7',
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:146.0) Gecko/20100101 Firefox/146.0',
  },
  emailChange: LINK,
  emailChanged: { ...NOTICE, url: LINK.url, days: 7, newEmail: 'grace@example.org' },
  signInCode: { ...LINK, minutes: 10, code: '493018' },
};

/**
 * Writes every mail with example data, as it would be sent.
 *
 * @param user the user whom the host's templates get
 */
export function previews(mails: AccountMails, language: Language, user: object): Promise<MailPreview[]> {
  const examples: Readonly<Partial<Record<MailKind, object>>> = EXAMPLES;
  return Promise.all(
    MAIL_KINDS.map(async (kind) => {
      const data = { user, ...(examples[kind] ?? NOTICE) } as MailInput<typeof kind>;
      return { kind, ...(await mails.contentOf(kind, data, language)) };
    }),
  );
}
