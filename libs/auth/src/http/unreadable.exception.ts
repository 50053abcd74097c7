import { AuthException } from '../kernel/auth.exception';
import type { Unreadable } from './unreadable.policy';

/** The request could not be read: 400, 413 or 415, and no word of it is repeated. */
export class UnreadableRequest extends AuthException {
  constructor({ status, key }: Unreadable) {
    super('unreadable_request', { status, text: { key } });
  }
}
