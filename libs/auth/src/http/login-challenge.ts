/** What a second factor can be: an authenticator's code, a recovery code, a passkey. */
export type SecondFactorMethod = 'totp' | 'recovery_code' | 'passkey';

/** Answers a right password where a second factor is due, instead of tokens. */
export interface LoginChallenge {
  two_factor: true;
  /** For `POST /two-factor-challenge`; single use. */
  challenge_token: string;
  /** What this user can complete it with. */
  methods: readonly SecondFactorMethod[];
}
