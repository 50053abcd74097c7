import { defineFeature } from '../../foundation/realm/feature';
import { perClient } from '../../request/throttling/limiters';
import { Credentials, Login, LoginAttempts, PasswordRecheck } from './login';
import { LoginController } from './login.controller';
import { PasswordReplacement } from './password-replacement';

/** Login with identifier and password. */
export const login = defineFeature('login', {
  languages: () => (require('./login.languages') as typeof import('./login.languages')).loginLanguages,
  limits: {
    'svc-login': perClient(({ login: { ipMaxAttempts, decaySeconds } }) => ({
      maxAttempts: ipMaxAttempts,
      decaySeconds,
    })),
  },
  controllers: [LoginController],
  providers: [PasswordRecheck, Credentials, LoginAttempts, Login, PasswordReplacement],
});
