import { randomUUID } from 'node:crypto';
import type { Visitor } from './attacked-host';
import { CONFIRMATION_HEADER } from '../../support/flows/step-up';
import { PASSWORD } from '../../support/hosts/user-entities';
import { confirmationTokenFor } from './jws';

/** What the attacks use of a route. */
export interface Target {
  /** The credentials that the route requires. */
  needs: 'nothing' | 'token' | 'proof';
  /** The status for an empty or invalid body with valid credentials. */
  refuses: number;
  /** The status for a valid body. If it equals `refuses`, this table has no valid body for the route. */
  done: number;
  /** The fields of the body. */
  fields?: readonly string[];
  /** The fields that are JSON objects. */
  objects?: readonly string[];
  /** The optional fields. */
  optional?: readonly string[];
  /** A body that is valid, or valid enough for a check of each field. */
  body?: (visitor: Visitor) => Record<string, unknown>;
  /** The cache headers of responses. */
  cache: 'no-store' | 'public';
  /** Whether the route ends the calling session. */
  ends?: true;
}

const NEW_PASSWORD = 'plum-violin-harbour-7';
const CHOSEN = { password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD };
const CREDENTIAL = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', clientExtensionResults: {}, response: {} };
const ANSWERED = {
  parameters: 'code=a&state=b',
  attempt_token: 'f'.repeat(43),
  redirect_uri: 'https://app.example.test/hub',
};
const ASSERTION = () => ({ ceremony_id: '00000000-0000-4000-8000-000000000000', credential: CREDENTIAL });

const OF_EVERY_GUARD: Record<string, Target> = {
  'GET jwks': { needs: 'nothing', refuses: 200, done: 200, cache: 'public' },
  'POST login': {
    needs: 'nothing',
    refuses: 422,
    done: 200,
    fields: ['email', 'password', 'trusted_device_token'],
    optional: ['email', 'password', 'trusted_device_token'],
    body: ({ email }) => ({ email, password: PASSWORD }),
    cache: 'no-store',
  },
  'POST refresh': {
    needs: 'nothing',
    refuses: 401,
    done: 200,
    fields: ['refresh_token'],
    body: ({ refresh }) => ({ refresh_token: refresh }),
    cache: 'no-store',
  },
  'POST logout': { needs: 'token', refuses: 204, done: 204, cache: 'no-store', ends: true },
  'GET sessions': { needs: 'token', refuses: 200, done: 200, cache: 'no-store' },
  'DELETE sessions': { needs: 'token', refuses: 204, done: 204, cache: 'no-store', ends: true },
  'DELETE sessions/others': { needs: 'token', refuses: 204, done: 204, cache: 'no-store' },
  'DELETE sessions/:svcSession': { needs: 'token', refuses: 404, done: 204, cache: 'no-store' },
  'GET devices': { needs: 'token', refuses: 200, done: 200, cache: 'no-store' },
  'DELETE devices/:svcKnownDevice': { needs: 'token', refuses: 204, done: 204, cache: 'no-store' },
  'POST sessions/report': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['token'],
    body: () => ({ token: 'f'.repeat(64) }),
    cache: 'no-store',
  },
  'POST confirm-password': {
    needs: 'token',
    refuses: 422,
    done: 200,
    fields: ['password', 'code', 'recovery_code'],
    optional: ['code', 'recovery_code'],
    body: () => ({ password: PASSWORD }),
    cache: 'no-store',
  },
  'POST two-factor-challenge': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['challenge_token', 'code', 'recovery_code', 'ceremony_id', 'credential'],
    objects: ['credential'],
    optional: ['code', 'recovery_code', 'ceremony_id', 'credential'],
    cache: 'no-store',
  },
  'POST two-factor-enrolment': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['enrolment_token'],
    cache: 'no-store',
  },
  'POST two-factor-enrolment/confirm': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['enrolment_token', 'code'],
    optional: ['code'],
    cache: 'no-store',
  },
  'GET trusted-devices': { needs: 'token', refuses: 200, done: 200, cache: 'no-store' },
  'DELETE trusted-devices': { needs: 'token', refuses: 204, done: 204, cache: 'no-store' },
  'DELETE trusted-devices/:svcDevice': { needs: 'token', refuses: 204, done: 204, cache: 'no-store' },
};

const OF_THE_DEFAULT_GUARD: Record<string, Target> = {
  'GET two-factor/recovery-codes': { needs: 'token', refuses: 200, done: 200, cache: 'no-store' },
  'POST two-factor': { needs: 'proof', refuses: 200, done: 200, cache: 'no-store' },
  'POST two-factor/confirm': {
    needs: 'proof',
    refuses: 422,
    done: 422,
    fields: ['code'],
    optional: ['code'],
    cache: 'no-store',
  },
  'DELETE two-factor': { needs: 'proof', refuses: 204, done: 204, cache: 'no-store' },
  'POST two-factor/recovery-codes': { needs: 'proof', refuses: 409, done: 409, cache: 'no-store' },
  'GET passkeys': { needs: 'token', refuses: 200, done: 200, cache: 'no-store' },
  'POST confirm-passkey': {
    needs: 'token',
    refuses: 422,
    done: 422,
    fields: ['ceremony_id', 'credential'],
    objects: ['credential'],
    body: ASSERTION,
    cache: 'no-store',
  },
  'POST passkeys': {
    needs: 'proof',
    refuses: 422,
    done: 422,
    fields: ['credential', 'name'],
    objects: ['credential'],
    optional: ['name'],
    body: () => ({ credential: CREDENTIAL, name: 'key' }),
    cache: 'no-store',
  },
  'POST passkeys/login': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['ceremony_id', 'credential'],
    objects: ['credential'],
    body: ASSERTION,
    cache: 'no-store',
  },
  'POST passkeys/login-options': { needs: 'nothing', refuses: 200, done: 200, cache: 'no-store' },
  'POST passkeys/registration-options': { needs: 'proof', refuses: 200, done: 200, cache: 'no-store' },
  // The visitors have not signed in with the password: 423 before the credential is read, which is that of `POST passkeys`.
  'POST passkeys/conditional-options': { needs: 'token', refuses: 423, done: 423, cache: 'no-store' },
  'POST passkeys/conditional': {
    needs: 'token',
    refuses: 422,
    done: 423,
    fields: ['credential', 'name'],
    objects: ['credential'],
    optional: ['name'],
    body: () => ({ credential: CREDENTIAL, name: 'key' }),
    cache: 'no-store',
  },
  'PATCH passkeys/:svcPasskey': {
    needs: 'proof',
    refuses: 404,
    done: 204,
    fields: ['name'],
    optional: ['name'],
    cache: 'no-store',
  },
  'DELETE passkeys/:svcPasskey': { needs: 'proof', refuses: 204, done: 204, cache: 'no-store' },
  'POST two-factor-enrolment/passkey-options': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['enrolment_token'],
    cache: 'no-store',
  },
  'POST two-factor-enrolment/passkey': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['enrolment_token', 'credential', 'name'],
    objects: ['credential'],
    optional: ['name'],
    body: () => ({ credential: CREDENTIAL }),
    cache: 'no-store',
  },
  'POST password': {
    needs: 'token',
    refuses: 422,
    done: 200,
    fields: ['current_password', 'password', 'password_confirmation'],
    body: () => ({ current_password: PASSWORD, ...CHOSEN }),
    cache: 'no-store',
  },
  'GET account/export': { needs: 'proof', refuses: 200, done: 200, cache: 'no-store' },
  'DELETE account': { needs: 'proof', refuses: 204, done: 204, cache: 'no-store', ends: true },
  'POST register': {
    needs: 'nothing',
    refuses: 422,
    done: 200,
    fields: ['name', 'email', 'password', 'password_confirmation'],
    body: () => ({ name: 'Ada', email: `${randomUUID()}@example.com`, ...CHOSEN }),
    cache: 'no-store',
  },
  'POST register/passkey/options': {
    needs: 'nothing',
    refuses: 422,
    done: 200,
    fields: ['name', 'email'],
    body: () => ({ name: 'Ada', email: `${randomUUID()}@example.com` }),
    cache: 'no-store',
  },
  'POST register/passkey': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['name', 'email', 'ceremony_id', 'credential'],
    objects: ['credential'],
    body: () => ({ name: 'Ada', email: `${randomUUID()}@example.com`, ...ASSERTION() }),
    cache: 'no-store',
  },
  'POST forgot-password': {
    needs: 'nothing',
    refuses: 422,
    done: 200,
    fields: ['email'],
    body: ({ email }) => ({ email }),
    cache: 'no-store',
  },
  'POST reset-password': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['token', 'email', 'password', 'password_confirmation'],
    body: ({ email }) => ({ token: 'f'.repeat(64), email, ...CHOSEN }),
    cache: 'no-store',
  },
  'POST email/change': {
    needs: 'proof',
    refuses: 422,
    done: 202,
    fields: ['email'],
    body: () => ({ email: `${randomUUID()}@example.com` }),
    cache: 'no-store',
  },
  'POST email/change/confirm': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['token'],
    body: () => ({ token: 'f'.repeat(64) }),
    cache: 'no-store',
  },
  'POST email/change/undo': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['token'],
    body: () => ({ token: 'f'.repeat(64) }),
    cache: 'no-store',
  },
  'POST login/code': {
    needs: 'nothing',
    refuses: 422,
    done: 202,
    fields: ['email'],
    body: ({ email }) => ({ email }),
    cache: 'no-store',
  },
  'POST login/code/verify': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['code_token', 'code'],
    optional: ['code_token', 'code'],
    body: () => ({ code_token: 'f'.repeat(64), code: '00000000' }),
    cache: 'no-store',
  },
  'GET email/verify/:id/:hash': { needs: 'nothing', refuses: 403, done: 403, cache: 'no-store' },
  'POST email/verify/:id/:hash': { needs: 'token', refuses: 403, done: 403, cache: 'no-store' },
  'POST email/verification-request': {
    needs: 'nothing',
    refuses: 422,
    done: 202,
    fields: ['email'],
    body: ({ email }) => ({ email }),
    cache: 'no-store',
  },
  'POST email/verification-notification': { needs: 'token', refuses: 202, done: 202, cache: 'no-store' },
};

/** Of a provider that is not there. */
const OF_IDENTITIES: Record<string, Target> = {
  'GET identities': { needs: 'token', refuses: 200, done: 200, cache: 'no-store' },
  'POST identities/:svcProvider': {
    needs: 'nothing',
    refuses: 200,
    done: 200,
    fields: ['redirect_uri'],
    optional: ['redirect_uri'],
    cache: 'no-store',
  },
  'POST identities/:svcProvider/callback': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['parameters', 'attempt_token'],
    optional: ['attempt_token'],
    body: () => ANSWERED,
    cache: 'no-store',
  },
  'POST identities/register': {
    needs: 'nothing',
    refuses: 422,
    done: 422,
    fields: ['name', 'email', 'continuation_token'],
    optional: ['continuation_token'],
    body: () => ({ name: 'Ada', email: `${randomUUID()}@example.com`, continuation_token: 'f'.repeat(43) }),
    cache: 'no-store',
  },
  // This provider posts no form, and signs nobody out.
  'POST identities/:svcProvider/form': { needs: 'nothing', refuses: 404, done: 404, cache: 'no-store' },
  'POST identities/:svcProvider/logout': {
    needs: 'nothing',
    refuses: 400,
    done: 400,
    cache: 'no-store',
  },
  'POST identities/:svcProvider/link': {
    needs: 'proof',
    refuses: 200,
    done: 200,
    fields: ['redirect_uri'],
    optional: ['redirect_uri'],
    cache: 'no-store',
  },
  'POST identities/:svcProvider/link/callback': {
    needs: 'token',
    refuses: 422,
    done: 422,
    fields: ['parameters', 'attempt_token'],
    optional: ['attempt_token'],
    body: () => ANSWERED,
    cache: 'no-store',
  },
  'DELETE identities/:svcIdentity': { needs: 'proof', refuses: 404, done: 204, cache: 'no-store' },
  'POST identities/end-session': { needs: 'token', refuses: 200, done: 200, cache: 'no-store', ends: true },
  'POST confirm-identity': {
    needs: 'token',
    refuses: 422,
    done: 423,
    fields: ['provider', 'redirect_uri'],
    optional: ['redirect_uri'],
    body: () => ({ provider: 'hub' }),
    cache: 'no-store',
  },
  'POST confirm-identity/callback': {
    needs: 'token',
    refuses: 422,
    done: 423,
    body: () => ({ provider: 'hub', ...ANSWERED }),
    cache: 'no-store',
  },
};

/** A route of one guard. */
export interface Route extends Target {
  /** `METHOD /path` as in the router. */
  name: string;
  guard: string;
  method: string;
  /** A path that the route matches. Its parameters match no existing row. */
  path: string;
}

const NOBODY = '00000000-0000-4000-8000-000000000000';
/** The default values of path parameters. */
const PARAMETERS: Record<string, string> = {
  svcSession: NOBODY,
  svcKnownDevice: NOBODY,
  svcPasskey: 'AAAA',
  svcDevice: NOBODY,
  id: NOBODY,
  hash: 'a'.repeat(40),
  svcProvider: 'hub',
  svcIdentity: NOBODY,
};

const at = (guard: string, prefix: string, table: Record<string, Target>): Route[] =>
  Object.entries(table).map(([key, target]) => {
    const [method, path] = key.split(' ') as [string, string];
    const filled = path.replace(/:(\w+)/g, (_, name: string) => PARAMETERS[name]!);
    return { ...target, guard, method, name: `${method} ${prefix}/${path}`, path: `${prefix}/${filled}` };
  });

/** Every route. A test compares the list with the router. */
export const ROUTES: readonly Route[] = [
  ...at('api', '/auth', { ...OF_EVERY_GUARD, ...OF_THE_DEFAULT_GUARD, ...OF_IDENTITIES }),
  ...at('admin', '/admin/auth', OF_EVERY_GUARD),
];

export const routeNamed = (name: string): Route => ROUTES.find((route) => route.name === name)!;

/** The headers with the credentials of a visitor. */
export const credentials = ({ needs }: Target, visitor: Visitor): Record<string, string> => ({
  ...(needs !== 'nothing' && { Authorization: `Bearer ${visitor.access}` }),
  ...(needs === 'proof' && { [CONFIRMATION_HEADER]: confirmationTokenFor(visitor) }),
});
