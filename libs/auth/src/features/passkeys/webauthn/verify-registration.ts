import type { CreationKind } from '../ceremonies';
import type { NewCredential } from '../passkey.entity';
import { acceptedOrigins } from '../relying-party';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { Inject, Injectable } from '@nestjs/common';
import { Realm } from '../../../kit';
import { ALGORITHMS, isTopLevel, registrationFrom } from './responses';
import { algorithmOf, isEcdsaKey, isEcdsaSignature, isMinimal, isSound } from './public-key';
import { WEBAUTHN, type Webauthn } from './library';

/** Verifies the authenticator's response to creation options (WebAuthn Level 3 §7.1). */
@Injectable()
export class RegistrationVerifier {
  constructor(
    @Inject(WEBAUTHN) private readonly load: () => Webauthn,
    private readonly realm: Realm,
  ) {}

  /**
   * Returns the credential; null for every invalid response. An invalid response causes no error.
   *
   * @param kind `account`: the user must be verified, because the passkey is the only way to sign in. `conditional`: the
   * user need not be present (§7.1 step 15, for `mediation: 'conditional'`)
   */
  async verify(
    sent: unknown,
    challenge: string,
    kind: CreationKind | 'account' = 'interactive',
  ): Promise<NewCredential | null> {
    const response = registrationFrom(sent);
    if (!response) return null;
    const webauthn = this.load();
    try {
      return await this.verified(webauthn, response, challenge, kind);
    } catch {
      // The library throws for values that do not match or cannot be parsed. It uses no store, so no outage is hidden.
      return null;
    }
  }

  private async verified(
    webauthn: Webauthn,
    response: RegistrationResponseJSON,
    challenge: string,
    kind: CreationKind | 'account',
  ): Promise<NewCredential | null> {
    const { clientDataJSON, transports = [] } = response.response;
    const attestationObject = withShortestHeads(Buffer.from(response.response.attestationObject, 'base64url'));
    const attested = attestationObject && withoutCertificate(webauthn, new Uint8Array(attestationObject));
    // First, because for other attestation formats the library would fetch revocation lists from URLs in the submitted
    // certificates.
    if (!attested || !isTopLevel(webauthn.decodeClientDataJSON(clientDataJSON))) return null;
    const { passkeys } = this.realm.options;
    const { rpId, userVerification } = passkeys;
    const { registrationInfo: found } = await webauthn.verifyRegistrationResponse({
      response: {
        ...response,
        response: { ...response.response, attestationObject: attestationObject.toString('base64url') },
      },
      expectedChallenge: challenge,
      expectedOrigin: acceptedOrigins(passkeys),
      expectedRPID: rpId!,
      requireUserPresence: kind !== 'conditional',
      // A passkey that no sign-in would accept is refused. The browser that creates one without a question verifies no user.
      requireUserVerification: kind === 'account' || (kind === 'interactive' && userVerification === 'required'),
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!found || found.credential.id !== response.id) return null;
    const { publicKey, counter: signCount } = found.credential;
    const key = webauthn.decodeCredentialPublicKey(publicKey);
    if (!isSound(key) || !isMinimal(key) || !containsKey(attested.authData, publicKey, response.id)) return null;
    if (attested.fmt === 'packed' && !isOwnStatement(attested.statement, key)) return null;
    return {
      credentialId: response.id,
      publicKey,
      signCount,
      transports,
      aaguid: found.aaguid,
      backupEligible: found.credentialDeviceType === 'multiDevice',
      backedUp: found.credentialBackedUp,
    };
  }
}

type Statement = ReadonlyMap<string, unknown>;

/**
 * Returns the members of an attestation object without a certificate: with the format `none`, or with the signature of the passkey
 * itself. A client may leave the latter in place although `none` was requested (WebAuthn Level 3 §5.1.3). Null for every other one.
 */
function withoutCertificate(
  webauthn: Webauthn,
  bytes: Uint8Array<ArrayBuffer>,
): { fmt: 'none' | 'packed'; statement: Statement; authData: Uint8Array } | null {
  const attestation = webauthn.decodeAttestationObject(bytes);
  const [fmt, authData] = [attestation.get('fmt'), attestation.get('authData')];
  const statement: unknown = attestation.get('attStmt');
  if (!(statement instanceof Map)) return null;
  if (fmt === 'none' && statement.size === 0) return { fmt, statement, authData };
  const isSelf = fmt === 'packed' && statement.size === 2 && statement.has('alg') && statement.has('sig');
  return isSelf ? { fmt, statement, authData } : null;
}

/** Whether a statement, whose signature is verified, has the algorithm of the passkey and is encoded in its only way. */
function isOwnStatement(statement: Statement, key: Parameters<typeof algorithmOf>[0]): boolean {
  if (statement.get('alg') !== algorithmOf(key)) return false;
  return !isEcdsaKey(key) || isEcdsaSignature(statement.get('sig') as Uint8Array);
}

/** The deepest attestation object that is accepted: its statement is the only map in it. */
const MOST_LEVELS = 3;

/**
 * Rewrites one item of CBOR so that its lengths and integers have their shortest form (RFC 8949 §4.2.1), because some password
 * managers write longer ones, which the library does not read. Pure.
 *
 * @returns null if the bytes are not exactly one item of integers, texts, byte strings, lists and maps
 */
export function withShortestHeads(bytes: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  const end = copyItem(bytes, 0, parts, MOST_LEVELS);
  return end === bytes.length ? Buffer.concat(parts) : null;
}

/** Types of items, and the sizes of the numbers that follow their first byte (RFC 8949 §3). */
const [BYTES, TEXT, LIST, MAP] = [2, 3, 4, 5] as const;
const SIZES = [1, 2, 4, 8] as const;

const LARGEST = 2 ** 32 - 1;

/** Appends the item at `start`, and returns where the next one starts; null for an item of another kind. */
function copyItem(bytes: Buffer, start: number, parts: Buffer[], levels: number): number | null {
  const first = bytes[start];
  if (first === undefined || levels === 0 || first >> 5 > MAP) return null;
  const [type, info] = [first >> 5, first & 31];
  const size = info < 24 ? 0 : SIZES[info - 24];
  if (size === undefined || start + 1 + size > bytes.length) return null;
  const number = size === 0 ? info : Number(`0x${bytes.toString('hex', start + 1, start + 1 + size)}`);
  if (number > LARGEST) return null;
  parts.push(shortestHead(type, number));
  let at: number | null = start + 1 + size;
  if (type === BYTES || type === TEXT) {
    parts.push(bytes.subarray(at, at + number));
    return at + number <= bytes.length ? at + number : null;
  }
  const items = type === LIST ? number : type === MAP ? number * 2 : 0;
  for (let i = 0; i < items && at !== null; i++) at = copyItem(bytes, at, parts, levels - 1);
  return at;
}

function shortestHead(type: number, number: number): Buffer {
  if (number < 24) return Buffer.from([(type << 5) | number]);
  const size = SIZES.find((length) => number < 2 ** (8 * length))!;
  const head = Buffer.from([(type << 5) | (24 + SIZES.indexOf(size)), 0, 0, 0, 0]);
  head.writeUIntBE(number, 1, size);
  return head.subarray(0, 1 + size);
}

/** Bytes of authenticator data before the credential id: RP id hash, flags, counter, AAGUID and id length (§6.1). */
const BEFORE_ID = 55;

/** Whether the parsed and re-encoded key is identical to the submitted one. */
function containsKey(authData: Uint8Array, publicKey: Uint8Array, credentialId: string): boolean {
  const start = BEFORE_ID + Buffer.byteLength(credentialId, 'base64url');
  return Buffer.from(authData)
    .subarray(start, start + publicKey.length)
    .equals(publicKey);
}
