import { AuthException } from '../kernel/auth.exception';
import type { Text } from '../kernel/messages';

/** Too many failures in a row: 423 under the field of the endpoint, the same for an account that does not exist. */
export class AccountIsLocked extends AuthException {
  /**
   * @param field the request field that is refused
   * @param seconds how long the lock still holds; Infinity until someone releases it
   */
  constructor(field: string, seconds: number) {
    const text: Text = Number.isFinite(seconds)
      ? { key: 'auth.locked_for', params: { seconds } }
      : { key: 'auth.locked' };
    super('account_locked', { status: 423, errors: { [field]: [text] } });
  }
}
