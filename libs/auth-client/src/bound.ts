/**
 * Binds the session to a key that this browser cannot hand out (RFC 9449, `features.boundSessions`). Load it beside the client.
 *
 * ```ts
 * import { createAuthClient } from '@svc/auth-client';
 * import { boundKey } from '@svc/auth-client/bound';
 *
 * const auth = createAuthClient({ bound: boundKey() });
 * ```
 *
 * @module @svc/auth-client/bound
 */

import { base64urlOf } from './base64url.js';
import { type Moment, momentAt, since } from './clock.js';
import type { AuthSession, BoundRequests } from './types.js';

/** A key of the host, where there is no IndexedDB or no `crypto.subtle`, as in React Native. */
export interface HostKey {
  /** The public key: `kty`, `crv`, `x` and `y` of a key for ES256. */
  readonly jwk: Readonly<Record<string, string>>;
  /** @returns the 64 bytes of the signature of ES256, `r` and `s`. If it rejects, the request fails as if it had no answer */
  sign(data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
  sha256(data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
}

interface Key extends HostKey {
  /** The thumbprint (RFC 7638); null for a key of the host, which is the only one. */
  readonly jkt: string | null;
}

const EC = { name: 'ECDSA', namedCurve: 'P-256' };
const KEYS = 'keys';
/** A store can hang, and would keep the lock of the tabs. */
const STORE_MS = 5000;

const LOST = 'The key of this browser is gone. Sign in again.';
const UNUSABLE =
  'This browser cannot keep a key, so it cannot sign in here. A private window or blocked storage can be why.';
const NOT_BOUND = 'The server binds no session to a key: see `bound`.';

/** A store that fails so can have the key, and answers later. */
const PASSING = /^(Unknown|Abort|Timeout|QuotaExceeded)Error$/;

/** All texts here are ASCII. */
const bytesOfAscii = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text, (char) => char.charCodeAt(0));
const encoded = (value: object): string => base64urlOf(bytesOfAscii(JSON.stringify(value)).buffer);
const sha256 = (data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> => crypto.subtle.digest('SHA-256', data);
const hashOf = async ({ sha256: digest }: HostKey, text: string): Promise<string> =>
  base64urlOf(await digest(bytesOfAscii(text)));

/** Differs in each proof. Where there is no such function, nothing of a proof has to be secret. */
const newId = (): string =>
  globalThis.crypto?.randomUUID?.() ??
  [Date.now(), Math.random(), Math.random()].map((part) => part.toString(36)).join('');

/** Takes the place of the answer to a request that cannot be sent, and has its form. */
const answer = (status: number, reason: string | null, message: string): Response =>
  new Response(JSON.stringify({ message, reason }), {
    status,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store, private',
      // A guarded request then renews the session, which shows why it cannot go on.
      ...(status === 401 && { 'WWW-Authenticate': 'DPoP error="invalid_token"' }),
    },
  });

/** Runs one request in a transaction, and waits until it is written. */
async function inStore<T>(mode: IDBTransactionMode, work: (keys: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open('svc-auth', 1);
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(KEYS));
  return new Promise<T>((resolve, reject) => {
    setTimeout(() => reject(new DOMException('', 'TimeoutError')), STORE_MS);
    opening.addEventListener('error', () => reject(opening.error));
    opening.addEventListener('success', () => {
      const database = opening.result;
      try {
        const transaction = database.transaction(KEYS, mode);
        const request = work(transaction.objectStore(KEYS));
        transaction.addEventListener('complete', () => resolve(request.result));
        transaction.addEventListener('abort', () => reject(transaction.error));
      } catch (error) {
        reject(error);
      }
      // The user could not delete an open one. It is closed when the transaction has ended.
      database.close();
    });
  });
}

/** @throws where it is no pair of keys that can sign */
async function keyOf({ privateKey, publicKey }: CryptoKeyPair): Promise<Key> {
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey);
  const sign = (data: Uint8Array<ArrayBuffer>) => crypto.subtle.sign({ ...EC, hash: 'SHA-256' }, privateKey, data);
  await sign(new Uint8Array(1));
  const key = { jwk: { kty, crv, x, y } as Record<string, string>, sign, sha256 };
  return { ...key, jkt: await hashOf(key, JSON.stringify({ crv, kty, x, y })) };
}

/** The keys of one client. */
function openKeys(url: string) {
  /** The thumbprint of the key of the last sign-in. It distinguishes a lost key from a session that is bound to none. */
  const name = `svc-auth:${url}:key`;
  let used: string | null = null;
  let cached: Key | undefined;

  const read = async (): Promise<Key | undefined> => {
    const pair = await inStore<CryptoKeyPair | undefined>('readonly', (keys) => keys.get(url));
    return pair && keyOf(pair);
  };
  /** @param jkt of the key; null: any. @throws DOMException if the store may answer later */
  const find = async (jkt: string | null): Promise<Key | undefined> => {
    if (jkt && cached?.jkt === jkt) return cached;
    const key = await read().catch((error: DOMException) => {
      if (PASSING.test(error.name)) throw error;
      return undefined;
    });
    if (key && (!jkt || key.jkt === jkt)) return (cached = key);
    return undefined;
  };
  return {
    find,
    /** The key for a sign-in, which is made if there is none; undefined if it cannot be kept. Two tabs get the same one. */
    async own(): Promise<Key | undefined> {
      try {
        const known = await find(null);
        if (known) return known;
        const pair = await crypto.subtle.generateKey(EC, false, ['sign', 'verify']);
        await inStore('readwrite', (keys) => keys.add(pair, url)).catch(async () => {
          // Another tab was faster, unless it is no key.
          if (!(await find(null))) await inStore('readwrite', (keys) => keys.put(pair, url));
        });
        return await find(null);
      } catch {
        return undefined;
      }
    },
    get used(): string | null {
      try {
        return localStorage.getItem(name) ?? used;
      } catch {
        return used;
      }
    },
    use(jkt: string): void {
      used = jkt;
      try {
        localStorage.setItem(name, jkt);
      } catch {
        // The browser refuses storage: the page remembers it.
      }
    },
  };
}

/** `fetch` of one client. */
function openRequests(url: string, given?: HostKey): BoundRequests {
  const host = given && { ...given, jkt: null };
  const keys = openKeys(url);
  /** The latest nonce of the server, by origin. */
  const nonces = new Map<string, string>();
  /** What the server has said of its time, and when. A clock of the machine that is wrong would make all proofs invalid. */
  let known: { time: number; at: Moment } | undefined;

  const proofOf = async (key: Key, method: string, address: URL, token?: string): Promise<string> => {
    const { jwk } = key;
    const claims = {
      jti: newId(),
      htm: method,
      htu: address.origin + address.pathname,
      iat: Math.floor((known ? known.time + since(known.at) : Date.now()) / 1000),
      nonce: nonces.get(address.origin),
      ath: token && (await hashOf(key, token)),
    };
    const signed = `${encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk })}.${encoded(claims)}`;
    return `${signed}.${base64urlOf(await key.sign(bytesOfAscii(signed)))}`;
  };

  /** Sends a request with a proof, and once more if the proof is refused: with the nonce or the time of the server. */
  const send = async (request: Request, key: Key, session?: AuthSession): Promise<Response> => {
    const address = new URL(request.url);
    for (let isLast = false; ; isLast = true) {
      // A body can be read once.
      const attempt = isLast ? request : request.clone();
      attempt.headers.set('DPoP', await proofOf(key, request.method, address, session?.token));
      if (session) attempt.headers.set('Authorization', `DPoP ${session.token}`);
      const response = await fetch(attempt);
      const { status, headers } = response;
      const nonce = headers.get('DPoP-Nonce');
      if (nonce) nonces.set(address.origin, nonce);
      const isRefused =
        [400, 401].includes(status) && /use_dpop_nonce|invalid_dpop_proof/.test(headers.get('WWW-Authenticate') ?? '');
      // Other answers can come from a cache.
      const time = isRefused || !session ? Date.parse(headers.get('Date') ?? '') : 0;
      if (time) known = { time, at: momentAt() };
      if (!isRefused || isLast) return response;
    }
  };

  return {
    async fetch(input, init, session) {
      const { cnf, iat } = (session?.claims ?? {}) as { cnf?: { jkt?: string }; iat?: number };
      // A session without a key stays one, because a thief of its tokens could bind it.
      if (session === null || (session && !cnf?.jkt)) return fetch(input, init);
      const request = new Request(input, init);
      if (session) {
        const { expiresAt, lifetime } = session;
        if (iat) known ??= { time: iat * 1000, at: momentAt(expiresAt - lifetime) };
        const key = host ?? (await keys.find(cnf!.jkt!));
        return key ? send(request, key, session) : answer(401, null, LOST);
      }
      const isRefresh = input === `${url}/refresh`;
      const used = isRefresh ? keys.used : null;
      const key = host ?? (await (isRefresh ? keys.find(used) : keys.own()));
      if (!key) {
        if (!isRefresh) return answer(400, 'key_unusable', UNUSABLE);
        return used ? answer(401, 'key_lost', LOST) : fetch(request);
      }
      const response = await send(request, key);
      const tokens =
        response.ok &&
        (await response
          .clone()
          .json()
          .catch(() => null));
      if (tokens?.token_type === 'DPoP') {
        if (key.jkt) keys.use(key.jkt);
      } else if (tokens?.access_token && !isRefresh) {
        // The session, and in cookie mode its cookie, must not stay where the page has none.
        const headers = { Authorization: `Bearer ${tokens.access_token}` };
        await fetch(`${url}/logout`, { ...init, headers, body: null }).catch(() => null);
        return answer(400, 'not_bound', NOT_BOUND);
      }
      return response;
    },
  };
}

/**
 * The option `bound` of the client. It makes a key that no script can read (P-256, in IndexedDB), one for each browser profile and
 * `url`, and sends a proof of it with each request of the session.
 *
 * A sign-in is rejected with the reason `key_unusable` where the browser can keep no key (no TLS, and not localhost; blocked
 * storage), and with `not_bound` if the server binds no session. If the key is lost, the session ends with the reason `key_lost`.
 *
 * @param host a key of your own, where the browser has no IndexedDB, as in React Native
 */
export const boundKey =
  (host?: HostKey) =>
  (url: string): BoundRequests =>
    openRequests(url, host);
