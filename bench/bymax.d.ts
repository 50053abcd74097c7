/** The part of @bymax-one/nest-auth 1.4 that the benchmark uses. It is installed only for the benchmark. */
declare module '@bymax-one/nest-auth' {
  import type { CanActivate, DynamicModule, Provider } from '@nestjs/common';

  interface AuthUser {
    id: string;
    email: string;
    name: string;
    passwordHash: string | null;
    role: string;
    status: string;
    tenantId: string;
    emailVerified: boolean;
    mfaEnabled: boolean;
    lastLoginAt: Date | null;
    createdAt: Date;
  }

  interface CreateUserData {
    email: string;
    passwordHash: string | null;
  }

  interface Options {
    jwt: { secret: string };
    tokenDelivery?: 'cookie' | 'bearer' | 'both';
    rateLimit: { clientIpSource: 'peer' | 'trusted-proxy' };
    roles: { hierarchy: Record<string, string[]> };
    password?: { costFactor?: number };
  }

  class BymaxAuthModule {
    static registerAsync(options: { useFactory(): Options; extraProviders: Provider[] }): DynamicModule;
  }

  class AuthService {
    register(
      user: { email: string; name: string; password: string; tenantId: string },
      request: object,
    ): Promise<{ accessToken: string; rawRefreshToken: string }>;
  }

  class JwtAuthGuard implements CanActivate {
    canActivate(): Promise<boolean>;
  }

  const BYMAX_AUTH_USER_REPOSITORY: symbol;
  const BYMAX_AUTH_REDIS_CLIENT: symbol;
}

declare module 'ioredis' {
  class Redis {
    constructor(url: string);
  }
}
