import type { MailTemplates } from '@svc/auth';
import { AuthProvidersEnum } from '../auth/auth-providers.enum.js';
import type { UserEntity } from '../users/entities/user.entity.js';
import { hashOf } from '../utils/link-hash.js';

/** `emailChange.undoDays`. */
const UNDO_MINUTES = 7 * 24 * 60;

/** The letters of the application, with links to the pages of its frontend. The parameter `hash` contains the mailed link. */
export function mailTemplates(frontendDomain: string): Partial<MailTemplates> {
  const letter =
    (subject: string, path: string): MailTemplates['passwordReset'] =>
    ({ url, minutes }) => {
      const query = new URLSearchParams({ hash: hashOf(url), expires: String(Date.now() + minutes * 60_000) });
      const link = `${frontendDomain}${path}?${query.toString()}`;
      return {
        subject,
        text: `${subject}: ${link}`,
        html: `<p><a href="${link.replaceAll('&', '&amp;')}">${subject}</a></p>`,
      };
    };
  const reset = letter('Reset password', '/password-change');
  const undo = letter('Your email was changed. Undo', '/undo-new-email');
  return {
    emailVerification: letter('Confirm email', '/confirm-email'),
    emailChange: letter('Confirm new email', '/confirm-new-email'),
    // To the former address. Without a link, if it was not verified.
    emailChanged: ({ url, ...mail }, builtIn) =>
      url === null ? builtIn : undo({ ...mail, url, minutes: UNDO_MINUTES }, builtIn),
    // A user of a provider gets no password. The answer of the API is the same.
    passwordReset: (mail, builtIn) => {
      const { provider } = mail.user as UserEntity;
      return provider === AuthProvidersEnum.email
        ? reset(mail, builtIn)
        : { subject: 'Reset password', text: `Your account has no password. Sign in with ${provider}.` };
    },
  };
}
