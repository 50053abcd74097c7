import { AuthException } from '../kernel/auth.exception';

/** The login challenge is none, of another guard, of a former password, expired or used up: 422, and the login starts anew. */
export class BadChallenge extends AuthException {
  constructor() {
    super('bad_challenge', { status: 422, errors: { challenge_token: [{ key: 'auth.bad_challenge' }] } });
  }

  /** Where several answers to one challenge race, the others were no guesses. */
  override get isUndecided(): boolean {
    return true;
  }
}
