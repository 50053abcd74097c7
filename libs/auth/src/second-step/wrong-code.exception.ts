import { AuthException } from '../kernel/auth.exception';

/** The code is wrong, used up, or of a user without a second factor: 422, the same for all. */
export class WrongCode extends AuthException {
  constructor() {
    super('wrong_code', { status: 422, errors: { code: [{ key: 'auth.wrong_code' }] } });
  }
}
