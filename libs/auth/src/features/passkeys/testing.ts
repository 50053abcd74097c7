import { type KeyObject, createHash, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { loadWebauthn } from './webauthn/library';

/** The members of the response of `POST /passkeys/registration-options` that create a passkey. */
export interface CreationOptions {
  rp: { id?: string };
  user: { id: string };
  challenge: string;
}

/** The members of the options of `POST /passkeys/login-options` that an assertion needs. */
export interface RequestOptions {
  challenge: string;
  rpId?: string;
}

/** The CBOR values that authenticators use. */
export type Cbor = number | string | Uint8Array | Map<Cbor, Cbor>;

/** Deviations from a correct authenticator or page, for tests of refusals. */
export interface Change {
  /** Members of the client data that replace the correct ones. Undefined removes a member. */
  clientData?: Record<string, unknown>;
  rpId?: string;
  up?: boolean;
  uv?: boolean;
  be?: boolean;
  bs?: boolean;
  count?: number;
  /** The format of the attestation, by default `none`. `packed` is signed with the passkey itself. */
  format?: string;
  /** Members of the attestation statement that replace the correct ones. Undefined removes a member. */
  statement?: Record<string, Cbor | undefined>;
  credentialId?: Buffer;
  coseKey?: Map<Cbor, Cbor>;
  userHandle?: string;
}

/** A credential as JSON, like the result of a browser's `toJSON()`. The routes accept it as `credential`. */
export interface Sent {
  id: string;
  rawId: string;
  type: string;
  clientExtensionResults: object;
  response: Record<string, unknown>;
}

interface Held {
  key: KeyObject;
  userHandle: string;
  count: number;
}

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();
const cbor = (value: Cbor): Uint8Array => loadWebauthn().isoCBOR.encode(value as never);
const b64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const bytesOf = (text: unknown): Buffer => Buffer.from(String(text), 'base64url');

/** The COSE key of an RSA or EC key. The `crv` of every EC key is P-256, whatever its curve. */
export function coseKeyOf(generated: KeyObject): Map<Cbor, Cbor> {
  // On Node 20, the export of a generated key as JWK never ends if the garbage of the generation is collected meanwhile.
  const publicKey = createPublicKey(generated.export({ format: 'pem', type: 'spki' }));
  const { kty, x, y, n, e } = publicKey.export({ format: 'jwk' });
  const members: [Cbor, Cbor][] =
    kty === 'RSA'
      ? [
          [1, 3],
          [3, -257],
          [-1, bytesOf(n)],
          [-2, bytesOf(e)],
        ]
      : [
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, bytesOf(x)],
          [-3, bytesOf(y)],
        ];
  return new Map(members);
}

/**
 * Simulates an authenticator and its browser (WebAuthn Level 3 §6). Correct unless a test passes a {@link Change}.
 *
 * @example
 * const device = new SoftAuthenticator('https://app.example.com'); // one of passkeys.origins
 * const credential = device.create(options); // of POST /passkeys/registration-options
 * @throws AuthConfigError if the optional peer `@simplewebauthn/server` is not installed
 * @publicApi
 */
export class SoftAuthenticator {
  readonly held = new Map<string, Held>();
  /** Whether the signature counter increases. */
  counts = true;
  /** Flags of every response. A {@link Change} overrides them. */
  flags = { up: true, uv: true, be: true, bs: true };

  constructor(
    private readonly origin: string,
    private readonly algorithm: 'ES256' | 'RS256' = 'ES256',
  ) {}

  /** Creates a passkey and returns the credential for the registration. */
  create({ rp, user, challenge }: CreationOptions, change: Change = {}): Sent {
    const { publicKey, privateKey } =
      this.algorithm === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('rsa', { modulusLength: 2048 });
    const id = change.credentialId ?? randomBytes(32);
    this.held.set(b64(id), { key: privateKey, userHandle: user.id, count: 0 });
    const length = Buffer.from([id.length >> 8, id.length & 255]);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, cbor(change.coseKey ?? coseKeyOf(publicKey))]);
    const authData = this.authData(rp.id!, { count: 0, ...change }, attested);
    const clientData = this.clientData('webauthn.create', challenge, change);
    const signed = Buffer.concat([authData, sha256(clientData)]);
    const own = change.format === 'packed' && {
      alg: this.algorithm === 'ES256' ? -7 : -257,
      sig: sign('sha256', signed, privateKey),
    };
    const statement = Object.entries({ ...own, ...change.statement }).filter(([, value]) => value !== undefined);
    const attestation = new Map<Cbor, Cbor>([
      ['fmt', change.format ?? 'none'],
      ['attStmt', new Map(statement as [Cbor, Cbor][])],
      ['authData', authData],
    ]);
    const clientDataJSON = b64(clientData);
    const response = { clientDataJSON, attestationObject: b64(cbor(attestation)), transports: ['internal', 'hybrid'] };
    return sent(b64(id), response);
  }

  /**
   * Returns an assertion of the passkey `id`, or of the passkey created last.
   *
   * @throws Error if the authenticator has no such passkey
   */
  get({ challenge, rpId }: RequestOptions, change: Change = {}, id: string = [...this.held.keys()].at(-1) ?? ''): Sent {
    const held = this.held.get(id);
    if (!held)
      throw new Error(
        id ? `this authenticator has no passkey ${id}` : 'this authenticator has no passkey yet: call create() first',
      );
    if (this.counts) held.count++;
    const authData = this.authData(rpId!, { count: held.count, ...change });
    const clientData = this.clientData('webauthn.get', challenge, change);
    const signature = sign('sha256', Buffer.concat([authData, sha256(clientData)]), held.key);
    return sent(id, {
      clientDataJSON: b64(clientData),
      authenticatorData: b64(authData),
      signature: b64(signature),
      userHandle: change.userHandle ?? held.userHandle,
    });
  }

  private authData(rpId: string, change: Change, attested = Buffer.alloc(0)): Buffer {
    const { up, uv, be, bs } = { ...this.flags, ...change };
    const flags = Number(up) | (Number(uv) << 2) | (Number(be) << 3) | (Number(bs) << 4) | (attested.length ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(change.count ?? 0);
    return Buffer.concat([sha256(change.rpId ?? rpId), Buffer.from([flags]), count, attested]);
  }

  private clientData(type: string, challenge: string, { clientData }: Change): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false, ...clientData }));
  }
}

const sent = (id: string, response: Record<string, unknown>): Sent => ({
  id,
  rawId: id,
  type: 'public-key',
  clientExtensionResults: {},
  response,
});
