import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { AuthModule as TokenModule, authOptionsFromEnv, bcryptVerifier } from '@svc/auth';
import type { SecurityConfig } from '../common/configs/config.interface.js';
import { PrismaService } from '../common/prisma/prisma.service.js';
import { AuthResolver } from './auth.resolver.js';
import { PrismaUsers } from './prisma-users.js';
import { createUser, signupRules } from './signup.js';

@Module({
  imports: [
    TokenModule.forRootAsync({
      users: { provider: PrismaUsers },
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
          // The secret, and in production the issuer and the audience: SVC_SECRET, SVC_ISSUER, SVC_AUDIENCE.
          ...authOptionsFromEnv(),
          accessTtl: securityConfig.expiresIn,
          refreshTtl: securityConfig.refreshIn,
          redis: { url: configService.get<string>('REDIS_URL') },
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
