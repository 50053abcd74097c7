import { defineFeature, identity, limiter, mailing } from '../../kit';
import { EmailCodeAttempts, EmailCodeLogin, UnprovedAccounts } from './email-code-login';
import { EmailCodeRequests } from './email-code-requests';
import { CodeTokenDelivery, EmailCodeController, EmailCodeFlow } from './email-code.controller';
import { EMAIL_CODE_OPTIONS } from './email-code.options';
import { EMAIL_CODE, EmailCodeCookie, EmailCodes } from './email-codes';

const reasons = {
  wrong_email_code: 'the mailed code is wrong, has expired, was used before, or belongs to another browser',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

/** Sign-in with a mailed code. */
export const emailCode = defineFeature('emailCode', {
  flags: ['emailCode'],
  reasons,
  languages: () => (require('./email-code.languages') as typeof import('./email-code.languages')).emailCodeLanguages,
  options: EMAIL_CODE_OPTIONS,
  userErrors: (users, { features }) => [
    features.emailCode && identity.sharedColumn(users, 'email', 'features.emailCode'),
  ],
  needsMailer: true,
  mails: { signInCode: { class: 'requested', example: { ...mailing.EXAMPLE_LINK, minutes: 10, code: '49301825' } } },
  limits: {
    'svc-email-code': limiter.perClient(({ emailCode: limit }) => limit),
  },
  capabilities: { emailCode: EmailCodeFlow },
  defaultGuardControllers: [EmailCodeController],
  purposes: [EMAIL_CODE],
  cookies: [EmailCodeCookie],
  providers: [
    EmailCodeCookie,
    EmailCodes,
    EmailCodeRequests,
    UnprovedAccounts,
    EmailCodeAttempts,
    EmailCodeLogin,
    CodeTokenDelivery,
  ],
  on: { endAll: identity.endChallenges },
});
