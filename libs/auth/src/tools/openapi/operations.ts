import { DeletionBusy } from '../../features/account/account-deletion';
import { AccountIsLocked } from '../../request/lockout/lockout';
import type { GuardConfig } from '../../foundation/config/auth-config';
import {
  ConfirmationRequired,
  PasskeyConfirmationRequired,
  WrongPassword,
} from '../../features/step-up/step-up.errors';
import { InvalidLink, OutdatedLink } from '../../features/email-verification/email-verification';
import { type AuthException, Unauthenticated } from '../../foundation/platform/errors';
import { UnverifiedLogin } from '../../features/sessions/sign-in';
import { WrongCredentials } from '../../features/login/login';
import type { Operation } from '../../foundation/platform/catalogue';
import { LastPasskey, PasskeyNotFound, PasskeyRefused } from '../../features/passkeys/passkeys.errors';
import { EmailChangeFailed } from '../../features/email-change/email-change';
import { FormerEmailTaken } from '../../features/email-change/email-change-undo';
import { HasherBusy } from '../../identity/password/hash-queue';
import { ResetFailed } from '../../features/password-reset/password-reset';
import { IdentifierTaken } from '../../features/registration/registration-form';
import { ReportFailed } from '../../features/known-devices/sign-in-report';
import { WrongEmailCode } from '../../features/email-code/email-code-login';
import { BadChallenge, WrongCode } from '../../features/login-challenge/challenge';
import { BadEnrolment } from '../../features/login-challenge/login-enrolments';
import { SecondFactorRequired } from '../../features/login-challenge/required-factors';
import { InvalidRefreshToken, NoSession, SessionNotFound } from '../../features/sessions/sessions.errors';
import { SignInRefused } from '../../identity/tokens/access-tokens';
import { TooManyFailures } from '../../request/throttling/throttling.errors';
import { AlreadyEnrolled, NotEnrolled } from '../../features/two-factor/two-factor.errors';
import { PASSKEYS, body, requestedCode, tokenPair } from './bodies';
import { INTEGER, OBJECT, type Schema, TEXT, anyOf, listOf, oneOf, record } from './schema';

/** Bodies of successful responses by status; null for no body. */
export type Answers = Readonly<Partial<Record<200 | 201 | 202 | 204 | 302, Schema | null>>>;

/** The documentation of an operation that its route metadata does not contain: summary, responses and refusals. */
export interface OperationDoc {
  readonly summary: string;
  /** Body of the success response, with the status of the route. `answers` lists several. Omit both for no body. */
  readonly answer?: Schema | ((options: GuardConfig) => Schema);
  readonly answers?: (options: GuardConfig) => Answers;
  readonly refusals?: (options: GuardConfig) => readonly AuthException[];
}

const A_MINUTE = 60;

const status = (text: string): Schema => record<{ status: string }>({ status: oneOf(text) });
const recoveryCodes = { recovery_codes: listOf(TEXT) };

const lock = (field: string, { features, lockout }: GuardConfig): AuthException[] =>
  features.lockout ? [new AccountIsLocked(field, lockout.releaseAfter || Infinity)] : [];
const unverified = ({ emailVerification }: GuardConfig): AuthException[] =>
  emailVerification.blockUnverifiedLogin ? [new UnverifiedLogin()] : [];
const suspended = ({ hooks }: GuardConfig): AuthException[] => (hooks.canSignIn ? [new SignInRefused()] : []);
const secondStep = ({ isDefault, features, passkeys }: GuardConfig): boolean =>
  features.twoFactor || (isDefault && features.passkeys && passkeys.required !== false);
const requiresFactor = ({ twoFactor }: GuardConfig): boolean => twoFactor.required !== false;
const tokensOrChallenge = (options: GuardConfig): Schema =>
  anyOf([
    tokenPair(options),
    ...(secondStep(options) || requiresFactor(options) ? [body('AuthChallenge')] : []),
    ...(requiresFactor(options) ? [body('AuthEnrolment')] : []),
  ]);
const lastFactor = (options: GuardConfig): AuthException[] =>
  requiresFactor(options) ? [new SecondFactorRequired()] : [];
const badEnrolment = (options: GuardConfig): AuthException[] => [
  new BadEnrolment(),
  ...unverified(options),
  ...suspended(options),
];
const passkeyRefused = (): AuthException[] => [new PasskeyRefused('not_verified')];

/** Documentation of every operation. */
export const OPERATION_DOCS: Readonly<Record<Operation, OperationDoc>> = {
  login: {
    summary: 'Signs in with a password',
    answer: tokensOrChallenge,
    refusals: (options) => [
      new WrongCredentials(options.username),
      new TooManyFailures(options.username, A_MINUTE),
      new HasherBusy(),
      ...lock(options.username, options),
      ...(options.registration.concealExisting ? [] : unverified(options)),
      ...suspended(options),
    ],
  },
  email_code_send: { summary: 'Mails a code to sign in with', answer: requestedCode },
  email_code_login: {
    summary: 'Signs in with a mailed code',
    answer: tokensOrChallenge,
    refusals: (options) => [
      new WrongEmailCode(),
      new TooManyFailures('code', A_MINUTE),
      new HasherBusy(),
      ...lock('code', options),
      // A code verifies the address.
      ...(options.features.emailVerification ? [] : unverified(options)),
      ...suspended(options),
    ],
  },
  challenge: {
    summary: 'Completes a sign-in with a second factor',
    answer: tokenPair,
    refusals: (options) => [
      new BadChallenge(),
      new WrongCode(),
      new TooManyFailures('code', A_MINUTE),
      new HasherBusy(),
      ...lock('code', options),
      ...unverified(options),
      ...suspended(options),
    ],
  },
  refresh: {
    summary: 'Exchanges a refresh token for new tokens',
    answer: tokenPair,
    refusals: () => [new InvalidRefreshToken()],
  },
  logout: { summary: 'Ends the calling session', refusals: () => [new NoSession()] },
  sessions_list: {
    summary: 'Lists the live sessions of the caller',
    answer: record<{ data: unknown }>({ data: listOf(body('AuthSession')) }),
  },
  session_end: { summary: 'Ends one session of the caller', refusals: () => [new SessionNotFound()] },
  sessions_end_all: { summary: 'Ends every session of the caller' },
  sessions_end_others: { summary: 'Ends every other session of the caller' },
  devices_list: {
    summary: 'Lists the devices on which the caller has signed in',
    answer: record<{ data: unknown }>({ data: listOf(body('AuthKnownDevice')) }),
  },
  device_forget: { summary: 'Forgets a device of the caller' },
  sign_in_report: {
    summary: 'Ends all sessions with the token of the mail about a sign-in, and mails a reset link',
    answer: status('sign-in-reported'),
    refusals: () => [new ReportFailed()],
  },
  jwks: {
    summary: 'The public keys that tokens are verified with (RFC 7517)',
    answer: record<{ keys: unknown }>({ keys: listOf(OBJECT) }),
  },
  register: {
    summary: 'Creates an account',
    answers: (options) =>
      options.registration.concealExisting
        ? { 202: status('registration-received') }
        : { ...(options.registration.login && { 200: tokensOrChallenge(options) }), 201: body('AuthRegistered') },
    refusals: ({ username, registration }) => [
      ...(registration.concealExisting ? [] : [new IdentifierTaken(username)]),
      new HasherBusy(),
    ],
  },
  register_passkey_options: {
    summary: 'Begins to create an account with a passkey',
    answer: record<{ ceremony_id: string; options: unknown }>({
      ceremony_id: TEXT,
      options: body('AuthPasskeyCreationOptions'),
    }),
  },
  register_passkey: {
    summary: 'Creates an account with a passkey',
    answers: (options) =>
      options.registration.concealExisting
        ? { 202: status('registration-received') }
        : { ...(options.registration.login && { 200: tokenPair(options) }), 201: body('AuthRegistered') },
    refusals: ({ username, registration }) => [
      ...(registration.concealExisting ? [] : [new IdentifierTaken(username)]),
      new PasskeyRefused('not_registered'),
    ],
  },
  email_verify: {
    summary: 'Opens a mailed verification link',
    answers: ({ emailVerification }) => ({
      204: null,
      ...(emailVerification.frontendUrl !== undefined && { 302: null }),
    }),
    refusals: () => [new InvalidLink(), new OutdatedLink()],
  },
  email_prove: {
    summary: 'Verifies the email of the caller with a mailed verification link',
    refusals: () => [new InvalidLink(), new OutdatedLink()],
  },
  email_verify_probe: { summary: 'Looks at a verification link without opening it' },
  email_verification_send: { summary: 'Mails another verification link', answer: status('verification-link-sent') },
  email_change_request: {
    summary: 'Mails a link that changes the email to a new address',
    answer: status('email-change-requested'),
    refusals: suspended,
  },
  email_change_confirm: {
    summary: 'Changes the email with the token that was mailed to the new address',
    answer: status('email-changed'),
    refusals: () => [new EmailChangeFailed()],
  },
  email_change_undo: {
    summary: 'Restores the former email with the token that was mailed to it',
    answer: status('email-change-undone'),
    refusals: () => [new EmailChangeFailed(), new FormerEmailTaken(), new HasherBusy()],
  },
  username_change: {
    summary: 'Changes the identifier, where it is not the email',
    answer: status('username-changed'),
    refusals: (options) => [new IdentifierTaken(options.username), ...suspended(options)],
  },
  password_forgot: {
    summary: 'Mails a link to reset the password',
    answer: status('password-reset-link-sent'),
    refusals: () => [new HasherBusy()],
  },
  password_reset: {
    summary: 'Sets a new password with a mailed token',
    answer: status('password-reset'),
    refusals: () => [new ResetFailed(), new HasherBusy()],
  },
  password_change: {
    summary: 'Sets a new password with the current one, or a first password with a confirmation',
    answer: status('password-changed'),
    refusals: (options) => [
      new WrongPassword('current_password'),
      new ConfirmationRequired(options.confirm, []),
      new HasherBusy(),
      ...lock('current_password', options),
      ...suspended(options),
    ],
  },
  confirm_password: {
    summary: 'Proves with the password that the user is there',
    answer: body('AuthConfirmation'),
    refusals: (options) => [
      new WrongPassword('password'),
      new HasherBusy(),
      ...lock('password', options),
      ...(options.confirm.factors === 'all'
        ? [
            new PasskeyConfirmationRequired(),
            new WrongCode(),
            new TooManyFailures('code', A_MINUTE),
            ...lock('code', options),
          ]
        : []),
    ],
  },
  confirm_passkey: {
    summary: 'Proves with a passkey that the user is there',
    answer: body('AuthConfirmation'),
    refusals: () => [...passkeyRefused(), new PasskeyRefused('not_yours')],
  },
  two_factor_enrol: {
    summary: 'Begins to set up an authenticator',
    answer: record<{ otpauth_uri: string; recovery_codes: string[] }>({ otpauth_uri: TEXT, ...recoveryCodes }),
    refusals: (options) => [new AlreadyEnrolled(), new HasherBusy(), ...suspended(options)],
  },
  two_factor_confirm: {
    summary: 'Switches the second factor on with a first code',
    refusals: (options) => [new WrongCode(), ...suspended(options)],
  },
  two_factor_disable: { summary: 'Switches the second factor off', refusals: lastFactor },
  enrolment_start: {
    summary: 'Begins to set up an authenticator during a sign-in',
    answer: record<{ otpauth_uri: string; recovery_codes: string[] }>({ otpauth_uri: TEXT, ...recoveryCodes }),
    refusals: (options) => [...badEnrolment(options), new HasherBusy()],
  },
  enrolment_confirm: {
    summary: 'Completes a sign-in with the first code of a new authenticator',
    answer: tokenPair,
    refusals: (options) => [
      ...badEnrolment(options),
      new WrongCode(),
      new TooManyFailures('code', A_MINUTE),
      ...lock('code', options),
    ],
  },
  enrolment_passkey_options: {
    summary: 'Begins to set up a passkey during a sign-in',
    answer: body('AuthPasskeyCreationOptions'),
    refusals: badEnrolment,
  },
  enrolment_passkey: {
    summary: 'Completes a sign-in with a new passkey',
    answer: tokenPair,
    refusals: (options) => [...badEnrolment(options), new PasskeyRefused('not_registered')],
  },
  trusted_devices_list: {
    summary: 'Lists the trusted devices of the caller',
    answer: record<{ data: unknown }>({ data: listOf(body('AuthTrustedDevice')) }),
  },
  trusted_device_forget: { summary: 'Ends the trust in one device of the caller' },
  trusted_devices_forget_all: { summary: 'Ends the trust in every device of the caller' },
  recovery_codes_count: {
    summary: 'How many recovery codes are left',
    answer: record<{ remaining: number; total: number }>({ remaining: INTEGER, total: INTEGER }),
  },
  recovery_codes_renew: {
    summary: 'Replaces the recovery codes',
    answer: record<{ recovery_codes: string[] }>(recoveryCodes),
    refusals: (options) => [new NotEnrolled(), new HasherBusy(), ...suspended(options)],
  },
  passkey_login_options: {
    summary: 'Begins a sign-in, second step or confirmation with a passkey',
    answer: record<{ ceremony_id: string; options: unknown }>({
      ceremony_id: TEXT,
      options: body('AuthPasskeyRequestOptions'),
    }),
  },
  passkey_login: {
    summary: 'Signs in with a passkey',
    answer: tokenPair,
    refusals: (options) => [
      ...passkeyRefused(),
      new Unauthenticated(false),
      ...(options.registration.concealExisting && options.features.passkeyRegistration ? [] : unverified(options)),
      ...suspended(options),
    ],
  },
  passkey_register_options: { summary: 'Begins to set up a passkey', answer: body('AuthPasskeyCreationOptions') },
  passkey_register: {
    summary: 'Stores a passkey',
    refusals: (options) => [new PasskeyRefused('not_registered'), ...suspended(options)],
  },
  passkey_conditional_options: {
    summary: 'Begins to set up a first passkey that the browser creates without a question',
    answer: body('AuthPasskeyCreationOptions'),
    refusals: ({ confirm }) => [new ConfirmationRequired(confirm, []), new PasskeyRefused('not_registered')],
  },
  passkey_register_conditional: {
    summary: 'Stores a first passkey that the browser created without a question',
    refusals: (options) => [
      new ConfirmationRequired(options.confirm, []),
      new PasskeyRefused('not_registered'),
      ...suspended(options),
    ],
  },
  passkeys_list: { summary: 'Lists the passkeys of the caller', answer: PASSKEYS },
  passkey_rename: { summary: 'Names a passkey', refusals: () => [new PasskeyNotFound()] },
  passkey_delete: {
    summary: 'Deletes a passkey',
    refusals: (options) => [
      ...lastFactor(options),
      ...(options.passkeys.keepLast === false ? [] : [new LastPasskey()]),
    ],
  },
  account_export: { summary: 'What is known of the account', answer: body('AuthAccount') },
  account_delete: { summary: 'Deletes the account', refusals: () => [new DeletionBusy()] },
};
