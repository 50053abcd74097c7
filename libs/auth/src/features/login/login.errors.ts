import { AuthException } from '../../foundation/platform/errors';

/** No account has these credentials: 422, the same for an unknown identifier and a wrong password. */
export class WrongCredentials extends AuthException {
  /** @param field the login field */
  constructor(field: string) {
    super('wrong_credentials', { status: 422, errors: { [field]: [{ key: 'auth.wrong_credentials' }] } });
  }
}
