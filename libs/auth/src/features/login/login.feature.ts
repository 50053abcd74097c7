import type { Feature } from '../../foundation/realm/feature';
import { Credentials } from './credentials';
import { Login } from './login';
import { LoginAttempts } from './login';
import { LoginController } from './login.controller';
import { PasswordReplacement } from './password-replacement';
import { StandingPassword } from './credentials';
import { UnverifiedBlock } from './unverified-block';

export const login: Feature = {
  controllers: [LoginController],
  providers: [StandingPassword, Credentials, LoginAttempts, UnverifiedBlock, Login, PasswordReplacement],
};
