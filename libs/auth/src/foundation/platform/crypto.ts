import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** 256 random bits as 64 lowercase hex characters, for refresh tokens and HMAC secrets. */
export const newSecret = (): string => randomBytes(32).toString('hex');

/** SHA-256 of the UTF-8 text as 64 hex characters. At rest it protects only values of full entropy. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** Minimum length in bytes of a text from which keys are derived, the same as for an HS256 secret (RFC 7518 §3.2). */
const ROOT_BYTES = 32;

/** The texts that are long enough to derive keys from. An empty variable is not. */
export const rootsAmong = (texts: readonly (string | undefined)[]): string[] =>
  texts.filter((text) => text !== undefined && Buffer.byteLength(text) >= ROOT_BYTES) as string[];

interface GuardSecrets {
  readonly secret: string | undefined;
  readonly previousSecrets: readonly string[];
}

interface EncryptionKeys {
  readonly key: string | undefined;
  readonly previousKeys: readonly string[];
}

/** The texts from which the keys of a guard are derived, the current ones first: those of the encryption at rest, and its secrets. */
export const rootsOf = ({ secret, previousSecrets }: GuardSecrets, { key, previousKeys }: EncryptionKeys): string[] =>
  rootsAmong([key, secret, ...previousKeys, ...previousSecrets]);

/**
 * Signs values that a client returns later, such as a mailed link: HMAC-SHA256 under keys derived from the configured
 * texts (RFC 5869). The first key signs, every key verifies.
 */
export class Signatures {
  private readonly keys: readonly Buffer[];

  /** @param purpose separates the signatures: a signature for one purpose is not valid for another */
  constructor(texts: readonly string[], purpose: string) {
    this.keys = texts.map((text) => Buffer.from(hkdfSync('sha256', Buffer.from(text, 'utf8'), '', purpose, 32)));
  }

  sign(text: string): string {
    return mac(this.keys[0]!, text);
  }

  verify(text: string, signature: string): boolean {
    return this.keys.some((key) => isEqual(mac(key, text), signature));
  }
}

const mac = (key: Buffer, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** Compares two texts in a time that does not depend on the position of a difference. */
export function isEqual(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

const ALGORITHM = 'aes-256-gcm';
const [IV_BYTES, TAG_BYTES] = [12, 16];
const VERSION = 'v1';

interface Key {
  /** Identifies the key in its ciphertexts. It reveals nothing about the key. */
  readonly id: string;
  readonly bytes: Buffer;
}

/**
 * Authenticated encryption at rest: AES-256-GCM (NIST SP 800-38D) under keys derived from the configured
 * texts (HKDF-SHA256, RFC 5869). The first key encrypts, every key decrypts.
 *
 * A ciphertext is bound to a context, such as the purpose and the owner of the row. It does not decrypt in another row.
 */
export class Encryption {
  private readonly keys: readonly Key[];

  /** @param texts key texts of at least 32 bytes, the current one first; none where nothing is to be encrypted */
  constructor(texts: readonly string[]) {
    this.keys = texts.map(derived);
  }

  /** @returns `v1.{key id}.{base64url of iv, ciphertext and tag}` */
  encrypt(plain: Uint8Array, context: string): string {
    const [key] = this.keys;
    if (!key) throw new Error('There is no encryption key.');
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key.bytes, iv).setAAD(Buffer.from(context));
    const parts = [iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
    return `${VERSION}.${key.id}.${Buffer.concat(parts).toString('base64url')}`;
  }

  /** Returns the plain bytes; null for damaged text, another context, or a key that is not configured. */
  decrypt(encrypted: string, context: string): Buffer | null {
    const [version, id, body = ''] = encrypted.split('.');
    const key = this.keys.find((candidate) => candidate.id === id);
    const bytes = Buffer.from(body, 'base64url');
    if (version !== VERSION || !key || bytes.length < IV_BYTES + TAG_BYTES) return null;
    const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      return null;
    }
  }
}

function derived(text: string): Key {
  const bytes = Buffer.from(hkdfSync('sha256', Buffer.from(text, 'utf8'), '', 'svc:encryption', 32));
  return { bytes, id: createHash('sha256').update('svc:key-id').update(bytes).digest('hex').slice(0, 8) };
}
