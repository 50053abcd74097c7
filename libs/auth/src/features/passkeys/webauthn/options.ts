import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';

/** The options of both kinds of ceremony. */
export interface CeremonyOptions {
  /** Always set: the application does not start without it. */
  readonly rpId: string | undefined;
  readonly rpName: string;
  readonly challengeTtl: number;
  readonly userVerification: 'required' | 'preferred' | 'discouraged';
}

/** The user of a new passkey. */
export interface Holder {
  readonly handle: string;
  readonly name: string;
  /** The existing passkeys: an authenticator with one of them does not make a second one. */
  readonly passkeys: readonly { readonly id: string; readonly transports: readonly string[] }[];
}

/**
 * Makes the options of `navigator.credentials.create` (WebAuthn Level 3 §5.4). The credential is discoverable, so that a
 * user can sign in without an identifier.
 */
export const creationOptions = (
  { rpId, rpName, challengeTtl, userVerification }: CeremonyOptions,
  algorithms: readonly number[],
  { handle, name, passkeys }: Holder,
  challenge: string,
): PublicKeyCredentialCreationOptionsJSON => ({
  rp: { id: rpId!, name: rpName },
  user: { id: handle, name, displayName: name },
  challenge,
  pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
  timeout: challengeTtl * 1000,
  excludeCredentials: passkeys.map(({ id, transports }) => ({ id, type: 'public-key', transports: transports as [] })),
  authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification },
  attestation: 'none',
});

/** Makes the options of `navigator.credentials.get` (§5.5). They contain no credential ids, so they disclose no accounts. */
export const requestOptions = (
  { rpId, challengeTtl, userVerification }: CeremonyOptions,
  challenge: string,
): PublicKeyCredentialRequestOptionsJSON => ({
  challenge,
  rpId: rpId!,
  timeout: challengeTtl * 1000,
  allowCredentials: [],
  userVerification,
});
