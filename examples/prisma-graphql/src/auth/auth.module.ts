import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { AuthModule as TokenModule, authOptionsFromEnv, bcryptVerifier } from '@svc/auth';
import type { SecurityConfig } from '../common/configs/config.interface.js';
import { PrismaService } from '../common/prisma/prisma.service.js';
import { AuthResolver } from './auth.resolver.js';
import { usersOf } from './prisma-users.js';
import { createUser, signupRules } from './signup.js';

@Module({
  imports: [
    TokenModule.forRootAsync({
      users: { provider: { useFactory: usersOf, inject: [PrismaService] } },
      pool: {
        useFactory: (prisma: PrismaService) => prisma.pool,
        inject: [PrismaService],
      },
      // The mutations of this application are the only way in.
      routes: false,
      features: { registration: true, accountDeletion: false },
      useFactory: (configService: ConfigService, prisma: PrismaService) => {
        const securityConfig = configService.get<SecurityConfig>('security')!;
        return {
          // SVC_SECRET; in production also SVC_ISSUER, SVC_AUDIENCE and SVC_REDIS_URL. What stands below replaces a variable.
          ...authOptionsFromEnv(),
          accessTtl: securityConfig.expiresIn,
          // As before, a session ends if it is not refreshed for so long. New: it also ends 90 days after its login.
          sessions: { idleTimeout: securityConfig.refreshIn },
          refreshTtl: '90d',
          // For the hashes of existing users. The next login of each user replaces its hash by one of argon2id.
          hashing: { verifiers: [bcryptVerifier({ rounds: securityConfig.bcryptSaltOrRound })] },
          hooks: { registerRules: () => signupRules, register: createUser(prisma) },
        };
      },
      inject: [ConfigService, PrismaService],
    }),
  ],
  providers: [AuthResolver],
})
export class AuthModule {}
