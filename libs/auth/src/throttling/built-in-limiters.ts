import type { RateLimits } from '../config/auth-config';
import type { LimitRule, Limiter, RateLimit } from '../config/auth-options';

/** By client, whatever the outcome. */
const perClient = ({ maxAttempts, decaySeconds }: Required<RateLimit>): Limiter => {
  return (_, { client }) => ({ key: `ip|${client}`, maxAttempts, decaySeconds });
};

/** By client and, when someone is signed in, by account: a stolen token must not become a password oracle. */
const perClientAndUser = (limit: Required<RateLimit>): Limiter => {
  const { maxAttempts, decaySeconds } = limit;
  return (request, context) => {
    const client = perClient(limit)(request, context) as LimitRule;
    const { guard, userId } = context;
    return userId === null ? client : [client, { key: `user|${guard}|${userId}`, maxAttempts, decaySeconds }];
  };
};

/** Every limiter of the library by name. */
export const LIMITERS: Readonly<Record<string, (limits: RateLimits) => Limiter>> = {
  'svc-login': ({ login }) => perClient({ ...login, maxAttempts: login.ipMaxAttempts }),
  'svc-refresh': ({ refresh }) => perClient(refresh),
  'svc-2fa': ({ twoFactor }) => perClient(twoFactor),
  'svc-passkeys': ({ passkeys }) => perClient(passkeys),
  'svc-confirm': ({ confirm }) => perClientAndUser(confirm),
  'svc-email-verification': ({ emailVerification }) => perClientAndUser(emailVerification),
  'svc-password-reset': ({ passwordReset }) => perClient(passwordReset),
  // By client only: counted by identifier, strangers could keep an address from registering.
  'svc-register': ({ registration }) => perClient(registration),
};
