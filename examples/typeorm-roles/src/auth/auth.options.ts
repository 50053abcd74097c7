import type { ConfigType } from '@nestjs/config';
import { ModuleRef } from '@nestjs/core';
import { type AuthModuleAsyncOptions, authOptionsFromEnv, bcryptVerifier, nodemailerMailer } from '@svc/auth';
import { createTransport } from 'nodemailer';
import mailConfig from '../mail/mail.config.js';
import { mailTemplates } from '../mail/mail.templates.js';
import { RoleEnum } from '../roles/roles.enum.js';
import { UserEntity } from '../users/entities/user.entity.js';
import { UsersService } from '../users/users.service.js';
import authConfig from './config/auth.config.js';
import { AuthRegisterLoginDto } from './dto/auth-register-login.dto.js';

export const authOptions: AuthModuleAsyncOptions = {
  // The name of the strategy: every AuthGuard('jwt') of the application stays.
  guard: 'jwt',
  // The controller of the application keeps its paths and bodies, and makes server calls.
  routes: false,
  users: { entity: UserEntity },
  features: { registration: true, emailVerification: true, passwordReset: true, emailChange: true },
  inject: [authConfig.KEY, mailConfig.KEY, ModuleRef],
  useFactory: (
    auth: ConfigType<typeof authConfig>,
    { host, port, defaultEmail, frontendDomain }: ConfigType<typeof mailConfig>,
    modules: ModuleRef,
  ) => {
    // UsersService needs the library, which is being configured here: it is looked up when it is used.
    const users = () => modules.get(UsersService, { strict: false });
    return {
      ...authOptionsFromEnv(),
      hashing: { verifiers: [bcryptVerifier({ rounds: 10 })] },
      registration: { login: false, rules: AuthRegisterLoginDto },
      // Mailed links have the global prefix of main.ts.
      emailVerification: { apiUrl: `${auth.backendDomain}/api`, expire: '1d' },
      passwordReset: { frontendUrl: `${frontendDomain}/password-change`, expireMinutes: '30m' },
      emailChange: {
        confirmUrl: `${frontendDomain}/confirm-new-email`,
        undoUrl: `${frontendDomain}/undo-new-email`,
      },
      mail: {
        mailer: nodemailerMailer(createTransport({ host, port, ignoreTLS: true }), defaultEmail),
        templates: mailTemplates(frontendDomain),
      },
      hooks: {
        register: (fields: object) => users().register(fields as AuthRegisterLoginDto),
        abilities: async (userId: string) => {
          const user = await users().findOne({ id: Number(userId) });
          return user?.role?.id === RoleEnum.admin ? ['users.*'] : [];
        },
      },
    };
  },
};
