import { account, hasPasskeys } from './auth.js';
import { config } from './config.js';
import { say } from './feedback.js';
import { t } from './language.js';

/**
 * After a sign-in with the password: the password manager may create a first passkey, without a question. There is no message
 * if it does not, because the user did not ask for a passkey.
 */
export async function createPasskeyQuietly() {
  if (!config.features.conditionalCreate || !hasPasskeys) return;
  if (await account.createPasskeyQuietly()) say(t`Passkey saved. Next time, sign in with it.`, 'plain');
}
