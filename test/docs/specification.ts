/**
 * The keys of the product's original server interface, which this library implements, with the defaults, fields and statuses
 * that it states. `docs/specification.md` lists exactly these keys.
 */

/** A value that the original interface does not state. */
export const NOT_STATED = Symbol('not stated');

/** The name of the application, which is the default of what users see. */
export const APP_NAME = Symbol('the name of the application');

export const FEATURES: Readonly<Record<string, boolean>> = {
  rotation: true,
  reuse_detection: true,
  denylist: true,
  logout_all: true,
  two_factor: false,
  lockout: false,
  change_password: true,
  account_deletion: true,
  passkeys: false,
  email_verification: false,
  password_reset: false,
  registration: false,
  abilities: false,
  gate_auth_routes: true,
};

export const OPTIONS: Readonly<Record<string, unknown>> = {
  routes: true,
  path: 'auth',
  guard: 'api',
  user_provider: NOT_STATED,
  username: NOT_STATED,
  cookie_mode: false,
  'cookie.secure': true,
  algorithm: 'HS256',
  secret: NOT_STATED,
  keys: NOT_STATED,
  issuer: NOT_STATED,
  audience: NOT_STATED,
  access_ttl: 900,
  refresh_ttl: 2_592_000,
  grace_seconds: 30,
  leeway: 5,
  fork_threshold: 3,
  denylist_store: null,
  'confirm.ttl': 300,
  'confirm.header': 'X-Svc-Confirmation',
  'two_factor.window': 1,
  'two_factor.recovery_codes': 8,
  'two_factor.challenge_ttl': 300,
  'two_factor.issuer': APP_NAME,
  'passkeys.rp_name': APP_NAME,
  'passkeys.rp_id': NOT_STATED,
  'passkeys.origins': NOT_STATED,
  'passkeys.challenge_ttl': 120,
  'passkeys.user_verification': 'required',
  'password_reset.frontend_url': NOT_STATED,
  'password_reset.revoke_sessions': true,
  'password_reset.broker': null,
  expire: 60,
  throttle: 60,
  'lockout.max_attempts': 100,
  'lockout.release_after': 0,
  'rate_limits.login.max_attempts': 5,
  'rate_limits.login.decay_seconds': 60,
  'rate_limits.login.ip_max_attempts': 30,
  'rate_limits.login.account_max_attempts': 20,
  'rate_limits.two_factor.max_attempts': 5,
  'rate_limits.two_factor.decay_seconds': 60,
  'rate_limits.refresh.max_attempts': 30,
  'rate_limits.refresh.decay_seconds': 60,
  'rate_limits.passkeys.max_attempts': 30,
  'rate_limits.passkeys.decay_seconds': 60,
  'rate_limits.confirm.max_attempts': 5,
  'rate_limits.confirm.decay_seconds': 60,
  'rate_limits.password_reset.max_attempts': NOT_STATED,
  'rate_limits.password_reset.decay_seconds': NOT_STATED,
  'rate_limits.ipv6_prefix': 64,
};

export const VARIABLES = ['SVC_SECRET', 'SVC_ISSUER', 'SVC_AUDIENCE', 'SVC_RATE_LIMIT_IPV6_PREFIX'];

export const COLUMNS = [
  'svc_lockouts',
  'guard of a counter',
  'purpose of a counter',
  'subject of a counter',
  'scope of the refresh-token record',
  'two_factor_secret',
  'two_factor_recovery_codes',
  'two_factor_confirmed_at',
  'password_reset_tokens',
];

export const CLAIMS = ['iss', 'aud', 'exp', 'nbf', 'jti', 'fid', 'scope', 'pin', 'amr'];

export const COOKIES_AND_HEADERS = [
  '__Host-refresh',
  'the cookie without cookie.secure',
  'X-Svc-Confirmation',
  'WWW-Authenticate of a missing ability',
];

/** What the original interface states about a route. A list that is absent is not stated. */
interface OriginalRoute {
  readonly needs: readonly string[];
  readonly body?: readonly string[];
  /** Fields of the answer 200. */
  readonly answer?: readonly string[];
  readonly limiter?: string;
}

const TOKENS = ['access_token', 'refresh_token', 'token_type', 'expires_in'];
const TOKEN = 'access token';
const CONFIRMED = [TOKEN, 'confirmation token'];

export const ROUTES: Readonly<Record<string, OriginalRoute>> = {
  'POST /login': { needs: [], body: ['email', 'password'], answer: [...TOKENS, 'two_factor', 'challenge_token'] },
  'POST /refresh': { needs: [], body: ['refresh_token'], answer: TOKENS, limiter: 'svc-refresh' },
  'POST /logout': { needs: [TOKEN], body: [] },
  'DELETE /sessions': { needs: [TOKEN, 'svc.sessions'], body: [] },
  'DELETE /sessions/others': { needs: [TOKEN, 'svc.sessions'], body: [] },
  'GET /jwks': { needs: [], body: [], answer: ['keys'] },
  'POST /forgot-password': { needs: [], body: ['email'], answer: [], limiter: 'svc-password-reset' },
  'POST /reset-password': {
    needs: [],
    body: ['token', 'email', 'password', 'password_confirmation'],
    answer: [],
    limiter: 'svc-password-reset',
  },
  'POST /two-factor': { needs: CONFIRMED, body: [], answer: ['otpauth_uri', 'recovery_codes'] },
  'POST /two-factor/confirm': { needs: CONFIRMED, body: ['code'] },
  'GET /two-factor/recovery-codes': { needs: [TOKEN], body: [], answer: ['remaining', 'total'] },
  'POST /two-factor/recovery-codes': { needs: CONFIRMED, body: [], answer: ['recovery_codes'] },
  'DELETE /two-factor': { needs: CONFIRMED, body: [] },
  'POST /two-factor-challenge': {
    needs: [],
    body: ['challenge_token', 'code', 'recovery_code'],
    answer: TOKENS,
    limiter: 'svc-2fa',
  },
  'POST /confirm-password': { needs: [TOKEN, 'svc.account'] },
  'POST /confirm-passkey': { needs: [TOKEN, 'svc.account'] },
  'POST /password': { needs: [TOKEN, 'svc.account'] },
  'POST /register': { needs: [] },
};

export const BODIES: Readonly<Record<string, readonly string[]>> = {
  'token pair': TOKENS,
  'token pair in cookie mode': ['access_token', 'token_type', 'expires_in'],
  'login challenge': ['two_factor', 'challenge_token'],
  'validation error': ['message', 'errors'],
  'tokens of startSession()': ['accessToken', 'refreshToken'],
  'context of the abilities callback': ['guard', 'userId', 'familyId'],
  'user resource': ['abilities'],
  'step-up confirmation': [],
  'registration without a session': [],
};

/** The statuses, each with the number of its conditions. */
export const STATUSES: Readonly<Record<string, number>> = { 401: 1, 403: 1, 409: 2, 422: 3, 423: 2, 429: 2 };

export const LIMITERS: Readonly<Record<string, readonly string[]>> = {
  'svc-2fa': ['POST /two-factor-challenge'],
  'svc-refresh': ['POST /refresh'],
  'svc-passkeys': ['POST /passkeys/login-options', 'POST /passkeys/login'],
  'svc-password-reset': ['POST /forgot-password', 'POST /reset-password'],
  'the limit confirm': ['POST /confirm-password', 'POST /confirm-passkey'],
  'the limit login': ['POST /login'],
};

export const LOCKS = [
  'purpose login',
  'purpose two_factor',
  'purpose confirm',
  'subject id:<primary_key>',
  'subject idn:<normalized_identifier>',
  'subject user id',
];

export const ABILITIES: Readonly<Record<string, readonly string[]>> = {
  'svc.sessions': ['DELETE /sessions', 'DELETE /sessions/others'],
  'svc.account': ['POST /confirm-password', 'POST /confirm-passkey', 'POST /password'],
  'length of an ability': ['128'],
  'length of the claim scope': ['2048'],
};

/** The events, each with the fields that are named as here. */
export const EVENTS: Readonly<Record<string, readonly string[]>> = {
  TokenAbilityDenied: ['guard'],
  RefreshFamilyForked: [],
  AccountLocked: ['purpose', 'subject', 'guard'],
  AccountReleased: ['purpose', 'subject', 'guard'],
  "the framework's password-reset event": [],
};

/** The commands and their options, each with its default. */
export const COMMANDS: Readonly<Record<string, string | undefined>> = {
  'svc:release <subject>': undefined,
  'svc:release --purpose': 'login',
  'svc:release --guard': undefined,
  'svc:prune': undefined,
  'svc:prune --lockout-days': undefined,
  'svc:secret': undefined,
  'svc:keygen': undefined,
  'svc:keygen --algorithm': 'ES256',
};

export const MIDDLEWARE = ['auth:api', 'svc.ability:a,b', 'svc.abilities:a,b', 'svc.verified', 'svc.confirm'];

export const HOST_CODE = [
  'startSession(), and the start-session action',
  'tokenCan(<ability>)',
  'abilities callback (userId, context)',
  'custom authentication callback',
  'key function of the rate limits',
  'limiters that replace others by name',
  'translation function',
];

/** A name or word of each deliberate difference. */
export const DIFFERENCES = [
  '`accessTtl`',
  '`user_provider`',
  '`auth.startSession(userId, options, abilities)`',
  '`auth:api`',
  '`authOptionsFromEnv()`',
  '`amr` after every sign-in',
  '0.5.0',
  'current refresh token, which is the same',
  'One row for each session',
  '`forkThreshold`',
  '`sessions.maxPerUser`',
  '`confirm.ttl`',
  'Entries of the denylist',
  '`GET /jwks`',
  '`svc.account.delete`',
  'gated on five routes',
  '`requiresAll`',
  'transliterated',
  'All spellings of one account',
  'no counter by account',
  '`svc-login`',
  '`svc-2fa-setup`',
  '`auth.locked_for`',
  'Counters are per guard',
  '`AccountReleased` follows',
  'current password at `POST /password`',
  '`username` is the field',
  'custom authentication callback',
  '`svc_password_resets`',
  'three links',
  '`errors.password`',
  'default password rules',
  'earlier step',
  '`methods`',
  'Forms',
  '`SameSite=Strict`',
  '`cookie.secure`',
  '`issuer` and `audience`',
  '503 with `Retry-After`',
];

/** The names in the deliberate differences that the code does not define: of HTTP, of bodies and of Nest. */
export const NAMES_OF_OTHERS = ['SameSite=Strict', 'Retry-After', 'errors', 'errors.password', 'ConfigService'];
