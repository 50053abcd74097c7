import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

/** Longest credential id in base64url characters, which is the length of the column: 1023 bytes (WebAuthn Level 3 §4). */
export const CREDENTIAL_ID_MAX = 1364;

/** The COSE algorithms that are offered and accepted: ES256 and RS256 (RFC 9053 §2.1, RFC 8812 §2). */
export const ALGORITHMS: readonly number[] = [-7, -257];

const TRANSPORTS: readonly unknown[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Returns the user handle for authenticators: the UTF-8 bytes of the id in base64url. */
export const userHandleOf = (userId: string): string => Buffer.from(userId, 'utf8').toString('base64url');

/** Whether a text is canonical base64url: no padding, and unused bits are zero (RFC 4648 §3.5). */
export const isBase64url = (text: unknown): text is string =>
  typeof text === 'string' && text !== '' && Buffer.from(text, 'base64url').toString('base64url') === text;

/** Whether a text can be the id of a stored passkey. */
export const isCredentialId = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= CREDENTIAL_ID_MAX && isBase64url(text);

/** Reads a registration response with only the members that are verified; null for a value with another structure. */
export function registrationFrom(sent: unknown): RegistrationResponseJSON | null {
  const { id, rawId, type, response } = membersOf(sent);
  const { clientDataJSON, attestationObject, transports } = membersOf(response);
  if (!isCredentialId(id) || rawId !== id || type !== 'public-key') return null;
  if (!isBase64url(clientDataJSON) || !isBase64url(attestationObject)) return null;
  const known = Array.isArray(transports) ? TRANSPORTS.filter((transport) => transports.includes(transport)) : [];
  return {
    id,
    rawId: id,
    type,
    clientExtensionResults: {},
    response: { clientDataJSON, attestationObject, transports: known as [] },
  };
}

/** Reads an assertion response in the same way. It needs a user handle, which only discoverable credentials send. */
export function assertionFrom(sent: unknown): AuthenticationResponseJSON | null {
  const { id, rawId, type, response } = membersOf(sent);
  const { clientDataJSON, authenticatorData, signature, userHandle } = membersOf(response);
  if (!isCredentialId(id) || rawId !== id || type !== 'public-key') return null;
  if (!isBase64url(clientDataJSON) || !isBase64url(authenticatorData)) return null;
  if (!isBase64url(signature) || !isBase64url(userHandle)) return null;
  return {
    id,
    rawId: id,
    type,
    clientExtensionResults: {},
    response: { clientDataJSON, authenticatorData, signature, userHandle },
  };
}

/** Whether the ceremony ran in a top-level page and not in a frame of another origin (WebAuthn Level 3 §5.8.1). */
export function isTopLevel(clientData: unknown): boolean {
  const { crossOrigin = false, topOrigin } = membersOf(clientData);
  return crossOrigin === false && topOrigin === undefined;
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
