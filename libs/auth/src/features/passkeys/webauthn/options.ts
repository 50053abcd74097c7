import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';

/** What both kinds of ceremony are given. */
export interface CeremonyOptions {
  /** Refused at boot where it is missing. */
  readonly rpId: string | undefined;
  readonly rpName: string;
  readonly challengeTtl: number;
  readonly userVerification: 'required' | 'preferred' | 'discouraged';
}

/** Who a new passkey is for. */
export interface Holder {
  readonly handle: string;
  readonly name: string;
  /** The passkeys they have: an authenticator that holds one makes no second. */
  readonly passkeys: readonly { readonly id: string; readonly transports: readonly string[] }[];
}

/** Options of `navigator.credentials.create` (WebAuthn Level 3 §5.4). Discoverable, or nobody could sign in without a name. */
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

/** Options of `navigator.credentials.get` (§5.5). They name no credential, so they tell nothing of anyone. */
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
