import { AuthException } from '../../foundation/platform/errors';

/** The login challenge is none, of another guard, of a former password, expired or used up: 422, and the login starts anew. */
export class BadChallenge extends AuthException {
  constructor() {
    super('bad_challenge', { status: 422, errors: { challenge_token: [{ key: 'auth.bad_challenge' }] } });
  }

  /** Where several answers to one challenge race, the others were no guesses. */
  override get isInconclusive(): boolean {
    return true;
  }
}

/** The code is wrong, used up, or of a user without a second factor: 422, the same for all. */
export class WrongCode extends AuthException {
  constructor() {
    super('wrong_code', { status: 422, errors: { code: [{ key: 'auth.wrong_code' }] } });
  }
}
