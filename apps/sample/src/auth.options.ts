import { type AuthModuleAsyncOptions, type FeatureOptions, type Limiter, authOptionsFromEnv } from '@svc/auth';
import { CacheModule, SharedCache } from './cache.module';
import type { Environment } from './environment';
import { Admin } from './users/admin.entity';
import { deleteUser } from './users/delete-user';
import { User } from './users/user.entity';

/** These features send mails, so they need a mailer. */
const MAIL_FEATURES: FeatureOptions = { registration: true, emailVerification: true, passwordReset: true };

/** Six requests a minute for each user: see `@Throttled('export')`. */
const sixPerMinute: Limiter = (_, { guard, userId }) => ({
  key: `${guard} ${userId}`,
  maxAttempts: 6,
  decaySeconds: 60,
});

/** The options of `AuthModule.forRootAsync`. Each `SVC_*` variable of the environment overrides the default here. */
export function authOptions({ url, redisUrl, mailer }: Environment): AuthModuleAsyncOptions {
  const { features, domain, ...values } = authOptionsFromEnv();
  const admin = authOptionsFromEnv(process.env, 'admin');
  return {
    features: { lockout: true, twoFactor: true, ...(mailer && MAIL_FEATURES), ...features },
    domain,
    users: { entity: User },
    guards: {
      admin: { audience: 'https://admin.example.com', ...admin, path: 'admin/auth', users: { entity: Admin } },
    },
    imports: [CacheModule.forRedis(redisUrl)],
    inject: [SharedCache],
    useFactory: ({ cache }: SharedCache) => ({
      appName: 'Orders',
      ...values,
      cache,
      hooks: {
        // A customer who signs in gets all abilities on orders. A pinned session keeps the abilities that it was given.
        abilities: (_, { guard }) => (guard === 'api' ? ['orders.*'] : []),
        deleteUser,
      },
      // Mails about changes need a mailer, too.
      mail: { mailer, notices: mailer !== undefined },
      languages: true,
      passwordReset: { frontendUrl: `${url}/reset-password`, ...values.passwordReset },
      emailVerification: { apiUrl: url, frontendUrl: `${url}/verified`, ...values.emailVerification },
      rateLimits: { ...values.rateLimits, limiters: { export: sixPerMinute } },
    }),
  };
}
