import { AuthException } from '../kernel/auth.exception';

/** A page of another origin tries to use or to set the refresh cookie: 403, and nothing was done. */
export class ForeignPage extends AuthException {
  constructor() {
    super('foreign_page', { status: 403, text: { key: 'auth.foreign_page' } });
  }
}
