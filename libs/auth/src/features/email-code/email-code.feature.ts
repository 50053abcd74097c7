import { defineFeature } from '../../foundation/realm/feature';
import { EmailCodeAttempts, EmailCodeLogin, UnprovedAccounts } from './email-code-login';
import { EmailCodeRequests } from './email-code-requests';
import { EmailCodeController } from './email-code.controller';
import { EMAIL_CODE, EmailCodes } from './email-codes';

/** Sign-in with a mailed code. */
export const emailCode = defineFeature('emailCode', {
  flags: ['emailCode'],
  defaultGuardControllers: [EmailCodeController],
  purposes: [EMAIL_CODE],
  providers: [EmailCodes, EmailCodeRequests, UnprovedAccounts, EmailCodeAttempts, EmailCodeLogin],
});
