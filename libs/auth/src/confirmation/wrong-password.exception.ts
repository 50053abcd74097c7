import { AuthException } from '../kernel/auth.exception';

/** The signed-in user's own password is wrong: 422 under the field that carried it. */
export class WrongPassword extends AuthException {
  constructor(field: string) {
    super('wrong_password', { status: 422, errors: { [field]: [{ key: 'auth.wrong_password' }] } });
  }
}
