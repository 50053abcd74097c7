import { CHANGE_MAIL } from '../../foundation/ports/mail';
import { defineFeature } from '../../foundation/realm/feature';
import { informOn } from '../../foundation/realm/informing';
import { PasswordRules } from '../../identity/password/password-rules';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { perClient } from '../../request/throttling/limiters';
import { Credentials, Login, LoginAttempts, PasswordRecheck } from './login';
import { LoginController, LoginFlow } from './login.controller';
import { AccountRecovery, PasswordReplacement, PasswordReset } from './password-replacement';
import { SignInWays } from './sign-in-ways';

const reasons = {
  identifier_taken: 'an account with the identifier exists',
  unverified_login: 'the credentials are correct, but the email is not verified',
  wrong_credentials: '`hooks.authenticate` found no user with these credentials',
  wrong_password: 'the account exists, but the password is wrong',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

/** Login with identifier and password. */
export const login = defineFeature('login', {
  reasons,
  languages: () => (require('./login.languages') as typeof import('./login.languages')).loginLanguages,
  mails: { passwordChanged: CHANGE_MAIL },
  credentialChanges: [
    {
      credential: 'password',
      change: 'update',
      source: informOn(PasswordReset, ({ user }, users) => users.idOf(user)),
    },
  ],
  limits: {
    'svc-login': perClient(({ login: { ipMaxAttempts, decaySeconds } }) => ({
      maxAttempts: ipMaxAttempts,
      decaySeconds,
    })),
  },
  waits: { login: { row: '`POST /login`', inARow: 10, longest: 3 } },
  page: 'rate-limits.md',
  capabilities: { login: LoginFlow, passwords: PasswordRules },
  controllers: [LoginController],
  providers: [PasswordRecheck, Credentials, LoginAttempts, Login, PasswordReplacement, AccountRecovery, SignInWays],
  on: {
    signInWays: async (services, userId) => {
      const ways = (await services.get(TimedUserProvider).passwordHashOf(userId)) === null ? [] : ['password'];
      return async () => ways;
    },
  },
});
