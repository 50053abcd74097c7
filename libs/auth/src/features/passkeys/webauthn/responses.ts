import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

/** Longest credential id in base64url characters: what the column holds. */
export const CREDENTIAL_ID_MAX = 255;

/** COSE algorithms that are offered, and that alone are accepted: ES256 and RS256 (RFC 9053 §2.1, RFC 8812 §2). */
export const ALGORITHMS: readonly number[] = [-7, -257];

const TRANSPORTS: readonly unknown[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** How a user is named to authenticators: the UTF-8 bytes of the id, in base64url. */
export const userHandleOf = (userId: string): string => Buffer.from(userId, 'utf8').toString('base64url');

/** Whether a text is base64url in its one spelling: no padding, no stray bits (RFC 4648 §3.5). */
export const isBase64url = (text: unknown): text is string =>
  typeof text === 'string' && text !== '' && Buffer.from(text, 'base64url').toString('base64url') === text;

/** Whether a text can be the id of a stored passkey. */
export const isCredentialId = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= CREDENTIAL_ID_MAX && isBase64url(text);

/** A registration with the members that are verified and no other; null for what has not their shape. */
export function registrationFrom(sent: unknown): RegistrationResponseJSON | null {
  const { id, rawId, type, response } = membersOf(sent);
  const { clientDataJSON, attestationObject, transports } = membersOf(response);
  if (!isCredentialId(id) || rawId !== id || type !== 'public-key') return null;
  if (!isBase64url(clientDataJSON) || !isBase64url(attestationObject)) return null;
  const known = Array.isArray(transports) ? TRANSPORTS.filter((one) => transports.includes(one)) : [];
  return {
    id,
    rawId: id,
    type,
    clientExtensionResults: {},
    response: { clientDataJSON, attestationObject, transports: known as [] },
  };
}

/** The same of an assertion. It names its user: only a discoverable credential can sign in without a name. */
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

/** Whether the ceremony ran in a page of its own and in no other's frame (WebAuthn Level 3 §5.8.1, `crossOrigin`). */
export function isTopLevel(clientData: unknown): boolean {
  const { crossOrigin = false, topOrigin } = membersOf(clientData);
  return crossOrigin === false && topOrigin === undefined;
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
