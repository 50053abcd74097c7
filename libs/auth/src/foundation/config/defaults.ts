import { availableParallelism } from 'node:os';
import type { AuthModuleOptions, FeatureOptions, HashingOptions } from './auth-options';

/**
 * Every default, by option. The host's values are merged over them: objects are merged recursively, lists and scalars
 * are replaced.
 */
export const DEFAULTS = {
  guard: 'api',
  path: 'auth',
  domain: null,
  routes: true,
  algorithm: 'HS256',
  previousSecrets: [],
  keys: { active: 'default', public: {} },
  issuer: 'https://api.example.com',
  audience: ['https://api.example.com'],
  accessTtl: 900,
  refreshTtl: 2_592_000,
  graceSeconds: 30,
  forkThreshold: 3,
  sessions: { maxPerUser: 100, idleTimeout: 0, ttlWithoutRemember: 0 },
  leeway: 5,
  tokenIds: 'uuid',
  cookieMode: false,
  refreshTokenFrom: 'mode',
  cookie: { refreshName: '__Host-refresh', secure: true, origins: [] },
  username: 'email',
  hooks: {},
  languages: false,
  messages: {},
  rateLimits: {
    ipv6Prefix: 64,
    login: { maxAttempts: 5, decaySeconds: 60, ipMaxAttempts: 30, accountMaxAttempts: 20 },
    twoFactor: { maxAttempts: 5, decaySeconds: 60 },
    confirm: { maxAttempts: 5, decaySeconds: 60 },
    refresh: { maxAttempts: 30, decaySeconds: 60 },
    passkeys: { maxAttempts: 30, decaySeconds: 60 },
    emailVerification: { maxAttempts: 6, decaySeconds: 60 },
    passwordReset: { maxAttempts: 6, decaySeconds: 60 },
    registration: { maxAttempts: 10, decaySeconds: 60 },
    limiters: {},
  },
  lockout: { maxAttempts: 100, releaseAfter: 0 },
  twoFactor: {
    window: 1,
    recoveryCodes: 8,
    challengeTtl: 300,
    required: false,
    enrolmentTtl: 600,
    trustedDeviceDays: 0,
  },
  passkeys: { origins: [], challengeTtl: 120, userVerification: 'required', required: false, maxPerUser: 50 },
  emailVerification: { expire: 60, blockUnverifiedLogin: false },
  passwordReset: { expireMinutes: 60, throttleSeconds: 60, revokeSessions: true, broker: null, brokers: {} },
  registration: { login: true, concealExisting: false },
  passwords: { minLength: 8, blockList: [] },
  mail: { notices: false, language: 'en', texts: {}, templates: {}, accentColor: '#1f4fd8' },
  confirm: { ttl: 300, afterLogin: false, factors: 'one', header: 'X-Svc-Confirmation' },
  retention: { schedule: '23 3 * * *', lockoutDays: 30 },
  securityLog: { enabled: true, maxPerMinute: 60 },
  storeTimeoutMs: 800,
  preparedStatements: true,
  denylistStore: null,
} satisfies AuthModuleOptions;

export const DEFAULT_FEATURES: Readonly<Required<FeatureOptions>> = {
  rotation: true,
  reuseDetection: true,
  denylist: true,
  logoutAll: true,
  changePassword: true,
  accountDeletion: true,
  gateAuthRoutes: true,
  twoFactor: false,
  lockout: false,
  passkeys: false,
  emailVerification: false,
  passwordReset: false,
  registration: false,
  passkeyRegistration: false,
  conditionalCreate: false,
  abilities: false,
};

/** A configuration of the OWASP Password Storage Cheat Sheet for argon2id: 19 MiB, two passes, one lane. */
export const DEFAULT_HASHING: Readonly<Required<Omit<HashingOptions, 'verifiers'>>> = {
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
  // One core stays free for requests without a password, and one of libuv's four threads for files and DNS look-ups.
  concurrency: Math.max(1, Math.min(3, availableParallelism() - 1)),
  maxQueue: 256,
  maxWaitMs: 2500,
};
