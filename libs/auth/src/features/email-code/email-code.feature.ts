import { endChallenges } from '../../identity/tokens/purpose-tokens';
import { sharedColumn } from '../../identity/users/provider-checks';
import { EXAMPLE_LINK } from '../../foundation/ports/mail';
import { defineFeature } from '../../foundation/realm/feature';
import { perClient } from '../../request/throttling/limiters';
import { EmailCodeAttempts, EmailCodeLogin, UnprovedAccounts } from './email-code-login';
import { EmailCodeRequests } from './email-code-requests';
import { EmailCodeController, EmailCodeFlow } from './email-code.controller';
import { EMAIL_CODE_OPTIONS } from './email-code.options';
import { EMAIL_CODE, EmailCodeCookie, EmailCodes } from './email-codes';

const reasons = {
  wrong_email_code: 'the mailed code is wrong, has expired, was used before, or belongs to another browser',
};
type OwnReasons = typeof reasons;

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends OwnReasons {}
}

/** Sign-in with a mailed code. */
export const emailCode = defineFeature('emailCode', {
  flags: ['emailCode'],
  reasons,
  languages: () => (require('./email-code.languages') as typeof import('./email-code.languages')).emailCodeLanguages,
  options: EMAIL_CODE_OPTIONS,
  userErrors: (users, { features }) => [features.emailCode && sharedColumn(users, 'email', 'features.emailCode')],
  needsMailer: true,
  mails: { signInCode: { class: 'requested', example: { ...EXAMPLE_LINK, minutes: 10, code: '49301825' } } },
  limits: {
    'svc-email-code': perClient(({ emailCode: limit }) => limit),
  },
  capabilities: { emailCode: EmailCodeFlow },
  defaultGuardControllers: [EmailCodeController],
  purposes: [EMAIL_CODE],
  cookies: [EmailCodeCookie],
  providers: [EmailCodeCookie, EmailCodes, EmailCodeRequests, UnprovedAccounts, EmailCodeAttempts, EmailCodeLogin],
  on: { endAll: endChallenges },
});
