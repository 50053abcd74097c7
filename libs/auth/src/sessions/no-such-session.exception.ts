import { AuthException } from '../kernel/auth.exception';

/** The caller has no session of this id: 404, the same for one that is somebody else's. */
export class NoSuchSession extends AuthException {
  constructor() {
    super('no_such_session', { status: 404, text: { key: 'auth.not_found' } });
  }
}
