import type { Feature } from '../realm/feature';
import { Credentials } from './credentials';
import { Login } from './login';
import { LoginAttempts } from './login-attempts';
import { LoginController } from './login.controller';
import { PasswordReplacement } from './password-replacement';
import { StandingPassword } from './standing-password';
import { UnverifiedBlock } from './unverified-block';

export const login: Feature = {
  controllers: [LoginController],
  providers: [StandingPassword, Credentials, LoginAttempts, UnverifiedBlock, Login, PasswordReplacement],
};
