import { endChallenges } from '../../identity/tokens/purpose-tokens';
import { defineFeature } from '../../foundation/realm/feature';
import { ResetCleanup } from '../password-reset/password-reset';
import { EmailCodeAttempts, EmailCodeLogin, UnprovedAccounts } from './email-code-login';
import { EmailCodeRequests } from './email-code-requests';
import { EmailCodeController } from './email-code.controller';
import { EmailCodes } from './email-codes';

/** Sign-in with a mailed code. */
export const emailCode = defineFeature('emailCode', {
  flags: ['emailCode'],
  defaultGuardControllers: [EmailCodeController],
  providers: [EmailCodes, EmailCodeRequests, UnprovedAccounts, EmailCodeAttempts, EmailCodeLogin, ResetCleanup],
  on: { endAll: endChallenges },
});
