import { AuthException } from '../kernel/auth.exception';

/** The caller has no passkey of this id: 404, the same for one that is somebody else's. */
export class NoSuchPasskey extends AuthException {
  constructor() {
    super('no_such_passkey', { status: 404, text: { key: 'auth.not_found' } });
  }
}
