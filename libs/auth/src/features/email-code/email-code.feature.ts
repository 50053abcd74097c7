import { defineFeature } from '../../foundation/realm/feature';
import { EmailCodeAttempts, EmailCodeLogin, UnprovedAccounts } from './email-code-login';
import { EmailCodeRequests } from './email-code-requests';
import { EmailCodeController } from './email-code.controller';
import { EmailCodes } from './email-codes';
import { EMAIL_CODE_OPTIONS } from './email-code.options';

/** Sign-in with a mailed code. */
export const emailCode = defineFeature('emailCode', {
  flags: ['emailCode'],
  options: EMAIL_CODE_OPTIONS,
  needsMailer: true,
  defaultGuardControllers: [EmailCodeController],
  providers: [EmailCodes, EmailCodeRequests, UnprovedAccounts, EmailCodeAttempts, EmailCodeLogin],
});
