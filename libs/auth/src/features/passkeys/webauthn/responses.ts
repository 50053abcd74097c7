import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

/** Longest credential id in base64url characters, which is the length of the column: 1023 bytes (WebAuthn Level 3 §4). */
export const CREDENTIAL_ID_MAX = 1364;

/** The COSE algorithms that are offered and accepted: ES256 and RS256 (RFC 9053 §2.1, RFC 8812 §2). */
export const ALGORITHMS: readonly number[] = [-7, -257];

const TRANSPORTS: readonly unknown[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Returns the user handle for authenticators: the UTF-8 bytes of the id in base64url. */
export const userHandleOf = (userId: string): string => Buffer.from(userId, 'utf8').toString('base64url');

/**
 * Reads bytes in base64url or base64, with or without padding, because native applications and their bridges send each of these.
 * Unused bits must be zero (RFC 4648 §3.5).
 *
 * @returns base64url without padding; null for another value, and for no bytes
 */
export function base64urlFrom(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value
    .replace(/={1,2}$/, '')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
  const isPadded = value.length !== text.length;
  if (text === '' || (isPadded && value.length % 4 !== 0)) return null;
  return Buffer.from(text, 'base64url').toString('base64url') === text ? text : null;
}

/** Whether a text can be the id of a stored passkey. */
export const isCredentialId = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= CREDENTIAL_ID_MAX && base64urlFrom(text) === text;

/** Reads a registration response with only the members that are verified; null for a value with another structure. */
export function registrationFrom(sent: unknown): RegistrationResponseJSON | null {
  const { id, response } = credentialFrom(sent);
  const { transports, ...given } = membersOf(response);
  const clientDataJSON = base64urlFrom(given.clientDataJSON);
  const attestationObject = base64urlFrom(given.attestationObject);
  if (!id || !clientDataJSON || !attestationObject) return null;
  const known = Array.isArray(transports) ? TRANSPORTS.filter((transport) => transports.includes(transport)) : [];
  return {
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: { clientDataJSON, attestationObject, transports: known as [] },
  };
}

/**
 * Reads an assertion response in the same way. The user handle is absent, null or empty where the application has named the
 * passkeys that it accepts (WebAuthn Level 3 §5.2.2).
 */
export function assertionFrom(sent: unknown): AuthenticationResponseJSON | null {
  const { id, response } = credentialFrom(sent);
  const given = membersOf(response);
  const clientDataJSON = base64urlFrom(given.clientDataJSON);
  const authenticatorData = base64urlFrom(given.authenticatorData);
  const signature = base64urlFrom(given.signature);
  const userHandle = (given.userHandle ?? '') === '' ? undefined : base64urlFrom(given.userHandle);
  if (!id || !clientDataJSON || !authenticatorData || !signature || userHandle === null) return null;
  return {
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: { clientDataJSON, authenticatorData, signature, userHandle },
  };
}

/** The members of both responses. The id is null for a value that is no credential. */
function credentialFrom(sent: unknown): { id: string | null; response: unknown } {
  const { id: givenId, rawId, type, response } = membersOf(sent);
  const id = base64urlFrom(givenId);
  const isSound = isCredentialId(id) && base64urlFrom(rawId) === id && type === 'public-key';
  return { id: isSound ? id : null, response };
}

/** Whether the ceremony ran in a top-level page and not in a frame of another origin (WebAuthn Level 3 §5.8.1). */
export function isTopLevel(clientData: unknown): boolean {
  const { crossOrigin = false, topOrigin } = membersOf(clientData);
  return crossOrigin === false && topOrigin === undefined;
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
