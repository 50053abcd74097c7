import { envName } from './env';
import { AuthConfigError } from '../platform/errors';
import {
  BOUNDS,
  DEFAULT_FEATURES,
  VARIABLES,
  authOptionsFromEnv,
  resolveOptions,
  unknownVariables,
} from './options.testkit';

// Every variable, with the option that it sets.
const EXPECTED: Record<string, string> = {
  SVC_ALGORITHM: 'algorithm',
  SVC_SECRET: 'secret',
  SVC_ACTIVE_KID: 'keys.active',
  SVC_PRIVATE_KEY: 'keys.private',
  SVC_KEY_PASSPHRASE: 'keys.passphrase',
  SVC_ISSUER: 'issuer',
  SVC_AUDIENCE: 'audience',
  SVC_ACCESS_TTL: 'accessTtl',
  SVC_REFRESH_TTL: 'refreshTtl',
  SVC_GRACE: 'graceSeconds',
  SVC_FORK_THRESHOLD: 'forkThreshold',
  SVC_LEEWAY: 'leeway',
  SVC_LOCKOUT_MAX_ATTEMPTS: 'lockout.maxAttempts',
  SVC_LOCKOUT_RELEASE_AFTER: 'lockout.releaseAfter',
  SVC_RATE_LIMIT_IPV6_PREFIX: 'rateLimits.ipv6Prefix',
  SVC_LOGIN_MAX_ATTEMPTS: 'rateLimits.login.maxAttempts',
  SVC_LOGIN_DECAY: 'rateLimits.login.decaySeconds',
  SVC_LOGIN_IP_MAX_ATTEMPTS: 'rateLimits.login.ipMaxAttempts',
  SVC_LOGIN_ACCOUNT_MAX_ATTEMPTS: 'rateLimits.login.accountMaxAttempts',
  SVC_2FA_MAX_ATTEMPTS: 'rateLimits.twoFactor.maxAttempts',
  SVC_2FA_DECAY: 'rateLimits.twoFactor.decaySeconds',
  SVC_CONFIRM_MAX_ATTEMPTS: 'rateLimits.confirm.maxAttempts',
  SVC_CONFIRM_AFTER_LOGIN: 'confirm.afterLogin',
  SVC_CONFIRM_FACTORS: 'confirm.factors',
  SVC_CONFIRM_DECAY: 'rateLimits.confirm.decaySeconds',
  SVC_REFRESH_MAX_ATTEMPTS: 'rateLimits.refresh.maxAttempts',
  SVC_REFRESH_DECAY: 'rateLimits.refresh.decaySeconds',
  SVC_PASSKEY_MAX_ATTEMPTS: 'rateLimits.passkeys.maxAttempts',
  SVC_PASSKEY_DECAY: 'rateLimits.passkeys.decaySeconds',
  SVC_VERIFY_MAX_ATTEMPTS: 'rateLimits.emailVerification.maxAttempts',
  SVC_VERIFY_DECAY: 'rateLimits.emailVerification.decaySeconds',
  SVC_RESET_MAX_ATTEMPTS: 'rateLimits.passwordReset.maxAttempts',
  SVC_RESET_DECAY: 'rateLimits.passwordReset.decaySeconds',
  SVC_EMAIL_CHANGE_MAX_ATTEMPTS: 'rateLimits.emailChange.maxAttempts',
  SVC_EMAIL_CHANGE_DECAY: 'rateLimits.emailChange.decaySeconds',
  SVC_USERNAME_CHANGE_MAX_ATTEMPTS: 'rateLimits.usernameChange.maxAttempts',
  SVC_USERNAME_CHANGE_DECAY: 'rateLimits.usernameChange.decaySeconds',
  SVC_MAILED_LINKS_MAX_ATTEMPTS: 'rateLimits.mailedLinks.maxAttempts',
  SVC_MAILED_LINKS_DECAY: 'rateLimits.mailedLinks.decaySeconds',
  SVC_CODE_MAX_ATTEMPTS: 'rateLimits.emailCode.maxAttempts',
  SVC_CODE_DECAY: 'rateLimits.emailCode.decaySeconds',
  SVC_REGISTER_MAX_ATTEMPTS: 'rateLimits.registration.maxAttempts',
  SVC_REGISTER_DECAY: 'rateLimits.registration.decaySeconds',
  SVC_2FA_ISSUER: 'twoFactor.issuer',
  SVC_2FA_WINDOW: 'twoFactor.window',
  SVC_ACCESS_KEYS_DECAY: 'rateLimits.accessKeys.decaySeconds',
  SVC_ACCESS_KEYS_MAX_ATTEMPTS: 'rateLimits.accessKeys.maxAttempts',
  SVC_ACCESS_KEYS_MAX_DAYS: 'accessKeys.maxDays',
  SVC_ACCESS_KEYS_MAX_PER_USER: 'accessKeys.maxPerUser',
  SVC_ACCESS_KEYS_PREFIX: 'accessKeys.prefix',
  SVC_ACCESS_KEYS_VERIFIER_CACHE: 'accessKeys.verifierCacheSeconds',
  SVC_BOUND_SESSIONS_ADDRESSES: 'boundSessions.addresses',
  SVC_BOUND_SESSIONS_MODE: 'boundSessions.mode',
  SVC_BOUND_SESSIONS_NONCE_SECONDS: 'boundSessions.nonceSeconds',
  SVC_BOUND_SESSIONS_PROOF_SECONDS: 'boundSessions.proofSeconds',
  SVC_FEATURE_BOUND_SESSIONS: 'features.boundSessions',
  SVC_FEATURE_DEVICE_BOUND_COOKIES: 'features.deviceBoundCookies',
  SVC_2FA_RECOVERY_CODES: 'twoFactor.recoveryCodes',
  SVC_2FA_CHALLENGE_TTL: 'twoFactor.challengeTtl',
  SVC_2FA_REQUIRED: 'twoFactor.required',
  SVC_2FA_ENROLMENT_TTL: 'twoFactor.enrolmentTtl',
  SVC_2FA_TRUSTED_DEVICE_DAYS: 'twoFactor.trustedDeviceDays',
  SVC_CONFIRM_TTL: 'confirm.ttl',
  SVC_CONFIRM_HEADER: 'confirm.header',
  SVC_PASSKEY_RP_NAME: 'passkeys.rpName',
  SVC_PASSKEY_RP_ID: 'passkeys.rpId',
  SVC_PASSKEY_ORIGINS: 'passkeys.origins',
  SVC_PASSKEY_RELATED_ORIGINS: 'passkeys.relatedOrigins',
  SVC_PASSKEY_CHALLENGE_TTL: 'passkeys.challengeTtl',
  SVC_PASSKEY_UV: 'passkeys.userVerification',
  SVC_PASSKEY_BACKUP_CHANGE: 'passkeys.backupChange',
  SVC_REDIS_URL: 'redis.url',
  SVC_REDIS_USERNAME: 'redis.username',
  SVC_REDIS_PASSWORD: 'redis.password',
  SVC_DENYLIST_STORE: 'denylistStore',
  SVC_COOKIE_MODE: 'cookieMode',
  SVC_COOKIE_SECURE: 'cookie.secure',
  SVC_COOKIE_REFRESH_NAME: 'cookie.refreshName',
  SVC_DISCOVERY: 'keys.discovery',
  SVC_USERNAME: 'username',
  SVC_DOMAIN: 'domain',
  SVC_VERIFY_API_URL: 'emailVerification.apiUrl',
  SVC_VERIFY_URL: 'emailVerification.frontendUrl',
  SVC_VERIFY_EXPIRE: 'emailVerification.expire',
  SVC_VERIFY_BLOCK_LOGIN: 'emailVerification.blockUnverifiedLogin',
  SVC_RESET_URL: 'passwordReset.frontendUrl',
  SVC_RESET_REVOKE_SESSIONS: 'passwordReset.revokeSessions',
  SVC_RESET_EXPIRE: 'passwordReset.expireMinutes',
  SVC_RESET_THROTTLE: 'passwordReset.throttleSeconds',
  SVC_RESET_BROKER: 'passwordReset.broker',
  SVC_EMAIL_CHANGE_CONFIRM_URL: 'emailChange.confirmUrl',
  SVC_EMAIL_CHANGE_UNDO_URL: 'emailChange.undoUrl',
  SVC_EMAIL_CHANGE_EXPIRE: 'emailChange.expireMinutes',
  SVC_EMAIL_CHANGE_UNDO_DAYS: 'emailChange.undoDays',
  SVC_KNOWN_DEVICES_MAIL: 'knownDevices.mail',
  SVC_KNOWN_DEVICES_URL: 'knownDevices.frontendUrl',
  SVC_KNOWN_DEVICES_EXPIRE: 'knownDevices.expireMinutes',
  SVC_IDENTITIES_MAX_ATTEMPTS: 'rateLimits.identities.maxAttempts',
  SVC_IDENTITIES_DECAY: 'rateLimits.identities.decaySeconds',
  SVC_IDENTITIES_ATTEMPT: 'identities.attemptMinutes',
  SVC_IDENTITIES_REGISTER: 'identities.register',
  SVC_CODE_URL: 'emailCode.frontendUrl',
  SVC_CODE_EXPIRE: 'emailCode.expireMinutes',
  SVC_CODE_DIGITS: 'emailCode.digits',
  SVC_REGISTER_LOGIN: 'registration.login',
  SVC_REGISTER_CONCEAL_EXISTING: 'registration.concealExisting',
  SVC_PASSWORD_MIN_LENGTH: 'passwords.minLength',
  SVC_FEATURE_ROTATION: 'features.rotation',
  SVC_FEATURE_REUSE_DETECTION: 'features.reuseDetection',
  SVC_FEATURE_DENYLIST: 'features.denylist',
  SVC_FEATURE_LOGOUT_ALL: 'features.logoutAll',
  SVC_FEATURE_OPERATORS: 'features.operators',
  SVC_OPERATORS_MAX_ATTEMPTS: 'rateLimits.operators.maxAttempts',
  SVC_OPERATORS_DECAY: 'rateLimits.operators.decaySeconds',
  SVC_OPERATORS_USERS: 'operators.users',
  SVC_OPERATORS_LABEL: 'operators.label',
  SVC_FEATURE_CHANGE_PASSWORD: 'features.changePassword',
  SVC_FEATURE_ACCOUNT_DELETION: 'features.accountDeletion',
  SVC_FEATURE_GATE_AUTH_ROUTES: 'features.gateAuthRoutes',
  SVC_FEATURE_TWO_FACTOR: 'features.twoFactor',
  SVC_FEATURE_LOCKOUT: 'features.lockout',
  SVC_FEATURE_PASSKEYS: 'features.passkeys',
  SVC_FEATURE_EMAIL_VERIFICATION: 'features.emailVerification',
  SVC_FEATURE_VERIFICATION_BY_ADDRESS: 'features.verificationByAddress',
  SVC_FEATURE_EMAIL_CHANGE: 'features.emailChange',
  SVC_FEATURE_USERNAME_CHANGE: 'features.usernameChange',
  SVC_FEATURE_PASSWORD_RESET: 'features.passwordReset',
  SVC_FEATURE_IDENTITIES: 'features.identities',
  SVC_FEATURE_EMAIL_CODE: 'features.emailCode',
  SVC_FEATURE_REGISTRATION: 'features.registration',
  SVC_FEATURE_KNOWN_DEVICES: 'features.knownDevices',
  SVC_FEATURE_PASSKEY_REGISTRATION: 'features.passkeyRegistration',
  SVC_FEATURE_CONDITIONAL_CREATE: 'features.conditionalCreate',
  SVC_FEATURE_ABILITIES: 'features.abilities',
  SVC_AUDIT_DAYS: 'audit.days',
  SVC_FEATURE_AUDIT: 'features.audit',
  SVC_FEATURE_ACCESS_KEYS: 'features.accessKeys',
  SVC_FEATURE_ACCESS_KEY_SCANNING: 'features.accessKeyScanning',
  SVC_FEATURE_SECURITY_EVENT_TOKENS: 'features.securityEventTokens',
  SVC_PREVIOUS_SECRETS: 'previousSecrets',
  SVC_JWKS_URL: 'keys.jwks',
  SVC_PASSKEY_REQUIRED: 'passkeys.required',
  SVC_PASSKEY_KEEP_LAST: 'passkeys.keepLast',
  SVC_STORE_TIMEOUT: 'storeTimeoutMs',
  SVC_PREPARED_STATEMENTS: 'preparedStatements',
  SVC_REFRESH_BY: 'rateLimits.refresh.by',
  SVC_SESSIONS_MAX_PER_USER: 'sessions.maxPerUser',
  SVC_SESSIONS_IDLE_TIMEOUT: 'sessions.idleTimeout',
  SVC_SESSIONS_TTL_WITHOUT_REMEMBER: 'sessions.ttlWithoutRemember',
  SVC_SESSIONS_UNUSED_SUCCESSOR_SECONDS: 'sessions.unusedSuccessorSeconds',
  SVC_PASSKEY_MAX_PER_USER: 'passkeys.maxPerUser',
  SVC_ARGON2_MEMORY: 'hashing.memoryCost',
  SVC_ARGON2_TIME: 'hashing.timeCost',
  SVC_ARGON2_PARALLELISM: 'hashing.parallelism',
  SVC_HASH_CONCURRENCY: 'hashing.concurrency',
  SVC_HASH_QUEUE: 'hashing.maxQueue',
  SVC_HASH_WAIT: 'hashing.maxWaitMs',
  SVC_SECURITY_LOG: 'securityLog.enabled',
  SVC_SECURITY_LOG_LINES: 'securityLog.maxPerMinute',
  SVC_PRUNE_SCHEDULE: 'retention.schedule',
  SVC_PRUNE_LOCKOUT_DAYS: 'retention.lockoutDays',
  SVC_COOKIE_ORIGINS: 'cookie.origins',
  SVC_KEY_PREFIX: 'keyPrefix',
  SVC_APP_NAME: 'appName',
  SVC_ENCRYPTION_KEY: 'encryption.key',
  SVC_PREVIOUS_ENCRYPTION_KEYS: 'encryption.previousKeys',
};

const valueAt = (options: object, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], options);

describe('authOptionsFromEnv', () => {
  it('reads exactly these variables, each for its option', () => {
    const read = Object.fromEntries(VARIABLES.map(([name, option]) => [`SVC_${name}`, option]));
    expect(read).toEqual(EXPECTED);
    expect(VARIABLES).toHaveLength(Object.keys(read).length);
  });

  it('reads a variable for every feature', () => {
    const read = VARIABLES.map(([, option]) => option).filter((option) => option.startsWith('features.'));
    expect(read.sort()).toEqual(
      Object.keys(DEFAULT_FEATURES)
        .map((name) => `features.${name}`)
        .sort(),
    );
  });

  it.each(Object.entries(EXPECTED))('sets with %s the option %s and no other', (name, option) => {
    const max = BOUNDS[option]?.max ?? 1;
    const options = authOptionsFromEnv({ [name]: String(max) });
    expect([max, '1', ['1'], true]).toContainEqual(valueAt(options, option));
    expect(Object.keys(options)).toEqual([option.split('.')[0]]);
  });

  it('returns no options for an empty environment or for variables with other names', () => {
    expect(authOptionsFromEnv({})).toEqual({});
    expect(authOptionsFromEnv({ PATH: '/bin', SECRET: 'x', XSVC_SECRET: 'x', svc_secret: 'x' })).toEqual({});
  });

  it('reads process.env by default', () => {
    process.env.SVC_ISSUER = 'https://of.the.process';
    expect(authOptionsFromEnv()).toMatchObject({ issuer: 'https://of.the.process' });
    delete process.env.SVC_ISSUER;
  });
});

/** How an error shows a wrong text: not at all if it could be a secret. */
const shown = (text: string): string => (/[ ,]/.test(text) ? `a text of ${text.length} characters` : `"${text}"`);

describe('a variable', () => {
  it.each([
    ['0', false],
    ['false', false],
    ['FALSE', false],
    [' false ', false],
    ['off', false],
    ['no', false],
    [' No ', false],
    ['1', true],
    ['true', true],
    ['yes', true],
    ['on', true],
    [' ON ', true],
  ])('that sets a flag: "%s" means %s', (text, value) => {
    expect(authOptionsFromEnv({ SVC_FEATURE_ROTATION: text })).toEqual({ features: { rotation: value } });
    expect(authOptionsFromEnv({ SVC_COOKIE_SECURE: text })).toEqual({ cookie: { secure: value } });
  });

  it.each(['', ' ', '\t', '\r'])('that is blank leaves its option unset, also that of a protection: %j', (text) => {
    const names = [...VARIABLES.map(([name]) => name), 'PUBLIC_KEY'];
    const blank = Object.fromEntries(names.map((name) => [`SVC_${name}`, text]));
    expect(authOptionsFromEnv(blank)).toEqual({});
    const { guards, securityLog } = resolveOptions(authOptionsFromEnv(blank));
    expect(guards[0]!.features).toMatchObject({ denylist: true, reuseDetection: true, gateAuthRoutes: true });
    expect(guards[0]).toMatchObject({ cookie: { secure: true }, passwordReset: { revokeSessions: true } });
    expect(securityLog.enabled).toBe(true);
  });

  it.each(['banana', '2', 'yes please', 'tru', 'null', '-', '0.0'])('that sets a flag refuses "%s"', (text) => {
    const read = (name: string) => () => authOptionsFromEnv({ [name]: text });
    expect(read('SVC_COOKIE_MODE')).toThrow(AuthConfigError);
    expect(read('SVC_COOKIE_MODE')).toThrow(`cookieMode (SVC_COOKIE_MODE) is ${shown(text)}. Use true or false.`);
    expect(read('SVC_FEATURE_LOCKOUT')).toThrow(`features.lockout (SVC_FEATURE_LOCKOUT) is ${shown(text)}.`);
  });

  it.each<[string, number]>([
    ['60', 60],
    [' 60 ', 60],
    ['+60', 60],
    ['90s', 90],
    ['15m', 900],
    ['1h', 3600],
    ['1d', 86_400],
    ['60000ms', 60],
  ])('that sets a number of seconds: "%s" means %d', (text, value) => {
    expect(authOptionsFromEnv({ SVC_ACCESS_TTL: text })).toEqual({ accessTtl: value });
  });

  it.each(['0', '-1', '1.5', '86401', '2d', '60 s', '15M', '1w', 'sixty', 'NaN', 'Infinity', '1,000', '0x10', '1e3'])(
    'that sets a number refuses "%s", and names the option, the variable, the value and the range',
    (text) => {
      expect(() => authOptionsFromEnv({ SVC_ACCESS_TTL: text })).toThrow(
        `accessTtl (SVC_ACCESS_TTL) is ${shown(text)}. Use a whole number of seconds from 1 to 86400, or a duration with a unit: ms, s, m, h, d.`,
      );
    },
  );

  it('that sets a count has no unit', () => {
    expect(() => authOptionsFromEnv({ SVC_LOCKOUT_MAX_ATTEMPTS: '5m' })).toThrow(
      /^lockout\.maxAttempts \(SVC_LOCKOUT_MAX_ATTEMPTS\) is "5m"\. Use a whole number from 1 to 100\.$/,
    );
  });

  it('that is refused does not hide the others: the error names all of them', () => {
    const read = () =>
      authOptionsFromEnv({ SVC_ACCESS_TTL: 'x', SVC_COOKIE_MODE: 'y', SVC_GRACE: '-1', SVC_LEEWAY: '1' });
    expect(read).toThrow(/accessTtl.*\n.*graceSeconds.*\n.*cookieMode/);
    expect(read).not.toThrow(/leeway/);
  });

  it.each(['3f1c0a9be77d42d6a5c8e0b1f2934d60', 'correct horse', 'postgres://u:p@h', 'thirteen-char'])(
    'that has the text of another line is refused without that text: %s',
    (secret) => {
      const read = () => authOptionsFromEnv({ SVC_GRACE: secret, SVC_COOKIE_MODE: secret });
      expect(read).toThrow(
        `graceSeconds (SVC_GRACE) is a text of ${secret.length} characters. Use a whole number of seconds`,
      );
      expect(read).toThrow(`cookieMode (SVC_COOKIE_MODE) is a text of ${secret.length} characters. Use true or false.`);
      expect(read).not.toThrow(secret.slice(0, 4));
    },
  );

  it('that sets a list is split at commas and trimmed, and empty entries are removed', () => {
    expect(authOptionsFromEnv({ SVC_AUDIENCE: ' https://a , ,https://b,' })).toEqual({
      audience: ['https://a', 'https://b'],
    });
    expect(authOptionsFromEnv({ SVC_PASSKEY_ORIGINS: 'https://a' })).toEqual({ passkeys: { origins: ['https://a'] } });
    expect(authOptionsFromEnv({ SVC_AUDIENCE: ' , ' })).toEqual({ audience: [] });
  });

  it('that sets a text is not trimmed', () => {
    expect(authOptionsFromEnv({ SVC_SECRET: ' s,1 ' })).toEqual({ secret: ' s,1 ' });
  });

  it.each([
    ['*/5 * * * *', '*/5 * * * *'],
    [' 0 4 * * * ', '0 4 * * *'],
    ['@daily', '@daily'],
    ['1', '1'],
    ['true', 'true'],
    ['0', false],
    ['false', false],
    [' FALSE ', false],
    ['off', false],
  ])('that sets a schedule: "%s" means %p', (text, schedule) => {
    expect(authOptionsFromEnv({ SVC_PRUNE_SCHEDULE: text })).toEqual({ retention: { schedule } });
  });

  it('with the public key sets the key of the active kid', () => {
    expect(authOptionsFromEnv({ SVC_PUBLIC_KEY: 'pem' })).toEqual({ keys: { public: { default: 'pem' } } });
    expect(authOptionsFromEnv({ SVC_PUBLIC_KEY: 'pem', SVC_ACTIVE_KID: 'k2', SVC_PRIVATE_KEY: 'own' })).toEqual({
      keys: { active: 'k2', private: 'own', public: { k2: 'pem' } },
    });
    expect(authOptionsFromEnv({ SVC_PUBLIC_KEY: '', SVC_ACTIVE_KID: '' })).toEqual({});
  });
});

describe('the variables of a guard', () => {
  const env = {
    SVC_SECRET: 'shared',
    SVC_ADMIN_AUDIENCE: 'https://admin',
    SVC_ADMIN_PUBLIC_KEY: 'pem',
    SVC_BACK_OFFICE_GRACE: '0',
  };

  it('contain its name, and no other variables are read for the guard', () => {
    expect(authOptionsFromEnv(env, 'admin')).toEqual({
      audience: ['https://admin'],
      keys: { public: { default: 'pem' } },
    });
    expect(authOptionsFromEnv(env, 'back-office')).toEqual({ graceSeconds: 0 });
    expect(authOptionsFromEnv(env, 'unknown')).toEqual({});
    expect(authOptionsFromEnv(env)).toEqual({ secret: 'shared' });
  });

  it('contain the name in upper case, with underscores instead of dashes', () => {
    expect(envName('back-office')).toBe('BACK_OFFICE');
    expect(envName('Staff_2')).toBe('STAFF_2');
  });
});

describe('the error of a variable of a guard', () => {
  it('has the name of the variable', () => {
    expect(() => authOptionsFromEnv({ SVC_BACK_OFFICE_GRACE: 'x' }, 'back-office')).toThrow(
      'graceSeconds (SVC_BACK_OFFICE_GRACE) is "x".',
    );
  });
});

describe('unknown variables', () => {
  const unknown = (env: Record<string, string>, guards: string[] = ['api', 'admin', 'back-office']) =>
    unknownVariables(guards, env);

  it.each([
    ['SVC_COOKIE_MOD', 'SVC_COOKIE_MODE'],
    ['SVC_FEATURE_PASSKEY', 'SVC_FEATURE_PASSKEYS'],
    ['SVC_ADMIN_SECRETT', 'SVC_ADMIN_SECRET'],
    ['SVC_AMDIN_AUDIENCE', 'SVC_ADMIN_AUDIENCE'],
  ])('are described with the nearest known one: %s with %s, and without their value', (name, closest) => {
    expect(unknown({ [name]: 'the-value' })).toEqual([
      `${name} is not a variable of @svc/auth, and has no effect. The nearest known name is ${closest}.`,
    ]);
  });

  it('of other software are described without a name that is not like them', () => {
    expect(unknown({ SVC_XQ: 'x' })).toEqual(['SVC_XQ is not a variable of @svc/auth, and has no effect.']);
  });

  it('are not those of the library, of the declared guards, and of others without the prefix', () => {
    const names = VARIABLES.flatMap(([name]) => [`SVC_${name}`, `SVC_ADMIN_${name}`, `SVC_BACK_OFFICE_${name}`]);
    const more = ['SVC_PUBLIC_KEY', 'SVC_ADMIN_PUBLIC_KEY', 'SVC_ALLOW_TESTING', 'PATH', 'XSVC_SECRET', 'svc_secret'];
    expect(unknown(Object.fromEntries([...names, ...more].map((name) => [name, 'x'])))).toEqual([]);
  });
});
