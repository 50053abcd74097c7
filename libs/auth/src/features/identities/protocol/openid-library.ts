import { createPrivateKey } from 'node:crypto';
import { errors, peer, pg } from '../../../kit';
import type { ClientCredential, ProviderSettings } from '../provider-options';

// A separate file, which no public type needs: the declarations of the package must not name an optional peer.
export type OpenidClient = typeof import('openid-client');
export type Jose = typeof import('jose');
export type Configuration = InstanceType<OpenidClient['Configuration']>;
export type TokenKey = import('jose').JWTVerifyGetKey;
export type ClientAuth = ReturnType<OpenidClient['None']>;

const PEERS = ['openid-client', 'jose'] as const;

export interface OpenidLibrary {
  readonly client: OpenidClient;
  readonly jose: Jose;
}

/**
 * Returns a function that loads the optional peers at its first call, so that they do not delay the start.
 *
 * @throws AuthConfigError immediately when a peer is not installed
 */
export function openidLibrary(isInstalled: (name: peer.PeerName) => boolean = peer.hasPeer): () => OpenidLibrary {
  const missing = PEERS.filter((name) => !isInstalled(name));
  if (missing.length)
    throw new errors.AuthConfigError(
      `features.identities needs ${missing.join(' and ')}. Run: npm install ${missing.join(' ')}`,
    );
  return pg.once(() => ({
    client: peer.optionalPeer<OpenidClient>('openid-client')!,
    jose: peer.optionalPeer<Jose>('jose')!,
  }));
}

/** The algorithm with which a private key signs (RFC 7518 §3.1); undefined for a key that is too weak or of another kind. */
export function signingAlgorithm(pem: string): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPrivateKey(pem);
  if (type === 'rsa') return (details?.modulusLength ?? 0) >= 2048 ? 'RS256' : undefined;
  if (type === 'ed25519') return 'EdDSA';
  const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384' };
  return type === 'ec' ? curves[details?.namedCurve ?? ''] : undefined;
}

/** The key for WebCrypto, also from a PEM of OpenSSL's older format. */
const keyOf = async ({ jose }: OpenidLibrary, pem: string, algorithm: string) =>
  jose.importPKCS8(createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' }) as string, algorithm);

/** Proves to the provider who the client is (RFC 6749 §2.3, RFC 7523, Apple's signed secret). @param seconds Unix time */
export async function clientAuthentication(
  library: OpenidLibrary,
  { credential, clientId, issuer }: ProviderSettings,
  seconds: number,
): Promise<ClientAuth> {
  const { client } = library;
  if ('secret' in credential) return withSecret(client, credential);
  if ('apple' in credential) {
    const { teamId, keyId, pem } = credential.apple;
    const secret = await new library.jose.SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setSubject(clientId)
      .setAudience(issuer)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + 300)
      .sign(await keyOf(library, pem, 'ES256'));
    return client.ClientSecretPost(secret);
  }
  const { pem, keyId } = credential.key;
  return client.PrivateKeyJwt({ key: await keyOf(library, pem, signingAlgorithm(pem)!), kid: keyId });
}

/** Without a list, the provider supports `client_secret_basic` (OpenID Connect Discovery §3). */
const withSecret =
  (client: OpenidClient, { secret, method }: Extract<ClientCredential, { secret: string }>): ClientAuth =>
  (server, ...others) => {
    const offered = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const chosen = method ?? (offered.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post');
    const send = chosen === 'client_secret_basic' ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
    return send(server, ...others);
  };
