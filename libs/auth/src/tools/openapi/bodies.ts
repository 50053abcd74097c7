import type { ExportedAccount } from '../../features/account/account-export';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { EnrolmentChallenge, LoginChallenge, RegisteredBody, TokenBody } from '../../foundation/ports/presenter';
import type { FailureBody } from '../../foundation/platform/errors';
import type { ExportedDevice, ListedKnownDevice } from '../../features/known-devices/known-device.store';
import type { RequestedCodeBody } from '../../features/email-code/email-code.controller';
import type { ListedPasskey, PasskeyList } from '../../features/passkeys/passkey.entity';
import type { creationOptions, requestOptions } from '../../features/passkeys/webauthn/options';
import type { ListedDevice } from '../../features/login-challenge/trusted-device.store';
import type { ListedSession } from '../../features/sessions/session-list';
import {
  FLAG,
  INTEGER,
  OBJECT,
  type Schema,
  TEXT,
  TIME,
  UUID,
  anyOf,
  listOf,
  of,
  oneOf,
  orNull,
  record,
} from './schema';

const TOKEN = {
  access_token: of(TEXT, 'A JWT, sent as the bearer credential.'),
  token_type: oneOf('Bearer'),
  expires_in: of(INTEGER, 'Seconds the access token lives.'),
};
/** A number for users with numeric ids. */
const USER_ID = anyOf([TEXT, INTEGER]);
const UNIX = of(INTEGER, 'Unix seconds.');
const USER_VERIFICATION = oneOf('required', 'preferred', 'discouraged');

const DEVICE = { id: UUID, first_seen_at: TIME, last_seen_at: TIME, user_agent: orNull(TEXT) };

type CreationOptions = ReturnType<typeof creationOptions>;
type RequestOptions = ReturnType<typeof requestOptions>;

/** Schemas of all named bodies, checked against their types. */
export const BODIES = {
  AuthMessage: record<Pick<FailureBody, 'message'>>({ message: TEXT }),
  AuthReason: record<Pick<FailureBody, 'message' | 'reason'>>({ message: TEXT, reason: TEXT }),
  AuthErrors: record<Pick<FailureBody, 'message' | 'errors'>>({
    message: of(TEXT, 'The first of the errors, and how many more there are.'),
    errors: of({ type: 'object', additionalProperties: listOf(TEXT) }, 'Texts by request field.'),
  }),
  AuthTokens: record<TokenBody>(
    {
      ...TOKEN,
      refresh_token: of(TEXT, 'For the next refresh. Kept by the client and sent nowhere else.'),
      device_token: of(
        TEXT,
        'After a sign-in with `features.knownDevices`: for the header `X-Svc-Device` of the next one.',
      ),
      trusted_device_token: of(TEXT, 'Of a device that is trusted from now on. Only after `trust_device`.'),
    },
    ['device_token', 'trusted_device_token'],
  ),
  AuthTokensBesideCookie: record<Omit<TokenBody, 'refresh_token' | 'device_token' | 'trusted_device_token'>>(TOKEN),
  AuthChallenge: record<LoginChallenge>({
    two_factor: oneOf(true),
    challenge_token: of(TEXT, 'For the second step. Can be used once.'),
    methods: listOf(oneOf('totp', 'recovery_code', 'passkey')),
  }),
  AuthRequestedCode: record<Required<RequestedCodeBody>>({
    code_token: of(TEXT, 'To be sent with the code. Kept by the browser that asked.'),
    expires_in: of(INTEGER, 'Seconds the code is valid.'),
  }),
  AuthRequestedCodeBesideCookie: record<Pick<RequestedCodeBody, 'expires_in'>>({
    expires_in: of(INTEGER, 'Seconds the code is valid.'),
  }),
  AuthEnrolment: record<EnrolmentChallenge>({
    enrolment_required: oneOf(true),
    enrolment_token: of(TEXT, 'For the routes below `/two-factor-enrolment`; opens one session.'),
    expires_in: of(INTEGER, 'Seconds until the token expires.'),
    methods: listOf(oneOf('totp', 'passkey')),
  }),
  AuthTrustedDevice: record<ListedDevice>({
    id: UUID,
    created_at: TIME,
    expires_at: TIME,
    user_agent: orNull(TEXT),
  }),
  AuthRegistered: record<RegisteredBody>({ registered: oneOf(true), requires_verification: FLAG }),
  AuthConfirmation: record<{ confirmation_token: string }>({
    confirmation_token: of(TEXT, 'A proof for this session. Valid for every request until it expires.'),
  }),
  AuthSession: record<ListedSession>({
    id: UUID,
    created_at: TIME,
    last_used_at: TIME,
    expires_at: of(TIME, 'When it ends if it is not used again.'),
    ip: orNull(TEXT),
    user_agent: orNull(TEXT),
    label: orNull(TEXT),
    current: of(FLAG, 'Whether it is the session of this request.'),
  }),
  AuthKnownDevice: record<ListedKnownDevice>({
    ...DEVICE,
    current: of(FLAG, 'Whether it is the device of this request.'),
  }),
  AuthPasskey: record<ListedPasskey>({ id: TEXT, name: orNull(TEXT), last_used_at: orNull(UNIX) }),
  AuthPasskeyRequestOptions: record<Omit<RequestOptions, 'hints' | 'extensions'>>({
    challenge: TEXT,
    rpId: TEXT,
    timeout: INTEGER,
    allowCredentials: listOf(OBJECT),
    userVerification: USER_VERIFICATION,
  }),
  AuthPasskeyCreationOptions: record<Omit<CreationOptions, 'hints' | 'extensions' | 'attestationFormats'>>({
    rp: record<{ id: string; name: string }>({ id: TEXT, name: TEXT }),
    user: record<CreationOptions['user']>({ id: TEXT, name: TEXT, displayName: TEXT }),
    challenge: TEXT,
    pubKeyCredParams: listOf(record<{ type: string; alg: number }>({ type: oneOf('public-key'), alg: INTEGER })),
    timeout: INTEGER,
    excludeCredentials: listOf(
      record<{ id: string; type: string; transports: string[] }>({
        id: TEXT,
        type: oneOf('public-key'),
        transports: listOf(TEXT),
      }),
    ),
    authenticatorSelection: record<{ residentKey: string; requireResidentKey: boolean; userVerification: string }>({
      residentKey: oneOf('required'),
      requireResidentKey: oneOf(true),
      userVerification: USER_VERIFICATION,
    }),
    attestation: oneOf('none'),
  }),
  AuthAccount: record<ExportedAccount>({
    generated_at: TIME,
    account: record<ExportedAccount['account']>({ id: USER_ID, identifier: orNull(TEXT) }),
    sessions: listOf(
      record<ExportedAccount['sessions'][number]>({
        session: UUID,
        created_at: TIME,
        last_rotated_at: orNull(TIME),
        revoked_at: orNull(TIME),
        expires_at: TIME,
      }),
    ),
    passkeys: listOf(
      record<ExportedAccount['passkeys'][number]>({
        credential_id: TEXT,
        name: orNull(TEXT),
        last_used_at: orNull(UNIX),
      }),
    ),
    two_factor: record<ExportedAccount['two_factor']>({ enabled: FLAG, confirmed_at: orNull(TIME) }),
    email_changes: listOf(
      record<ExportedAccount['email_changes'][number]>({
        from: orNull(TEXT),
        to: TEXT,
        requested_at: TIME,
        confirmed_at: orNull(TIME),
        undone_at: orNull(TIME),
      }),
    ),
    known_devices: listOf(record<ExportedDevice>(DEVICE)),
    trusted_devices: listOf({ $ref: '#/components/schemas/AuthTrustedDevice' }),
  }),
} satisfies Record<string, Schema>;

/** A reference to a named body. */
export const body = (name: keyof typeof BODIES): Schema => ({ $ref: `#/components/schemas/${name}` });

/** The token response of a guard: with or without cookie mode. */
export const tokenPair = ({ cookieMode }: GuardConfig): Schema =>
  body(cookieMode ? 'AuthTokensBesideCookie' : 'AuthTokens');

/** The answer of a guard to a request for a code: with or without cookie mode. */
export const requestedCode = ({ cookieMode }: GuardConfig): Schema =>
  body(cookieMode ? 'AuthRequestedCodeBesideCookie' : 'AuthRequestedCode');

export const PASSKEYS: Schema = record<PasskeyList>({
  passkeys: listOf(body('AuthPasskey')),
  rp_id: TEXT,
  user_handle: TEXT,
  all_accepted_credential_ids: listOf(TEXT),
});
