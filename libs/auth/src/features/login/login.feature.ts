import { defineFeature } from '../../foundation/realm/feature';
import { Credentials, PasswordRecheck } from './credentials';
import { Login, LoginAttempts } from './login';
import { LoginController } from './login.controller';
import { PasswordReplacement } from './password-replacement';

/** Login with identifier and password. */
export const login = defineFeature('login', {
  controllers: [LoginController],
  providers: [PasswordRecheck, Credentials, LoginAttempts, Login, PasswordReplacement],
});
