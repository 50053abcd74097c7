import {
  INTEGER,
  OBJECT,
  type Schema,
  TEXT,
  listOf,
  namedSchema,
  oneOf,
  record,
} from '../../../foundation/platform/schema';
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

type CreationOptions = ReturnType<typeof creationOptions>;
type RequestOptions = ReturnType<typeof requestOptions>;

const USER_VERIFICATION = oneOf('required', 'preferred', 'discouraged');

export const REQUEST_OPTIONS = namedSchema(
  'AuthPasskeyRequestOptions',
  record<Omit<RequestOptions, 'hints' | 'extensions'>>({
    challenge: TEXT,
    rpId: TEXT,
    timeout: INTEGER,
    allowCredentials: listOf(OBJECT),
    userVerification: USER_VERIFICATION,
  }),
);

export const CREATION_OPTIONS = namedSchema(
  'AuthPasskeyCreationOptions',
  record<Omit<CreationOptions, 'hints' | 'extensions' | 'attestationFormats'>>({
    rp: record<{ id: string; name: string }>({ id: TEXT, name: TEXT }),
    user: record<CreationOptions['user']>({ id: TEXT, name: TEXT, displayName: TEXT }),
    challenge: TEXT,
    pubKeyCredParams: listOf(record<{ type: string; alg: number }>({ type: oneOf('public-key'), alg: INTEGER })),
    timeout: INTEGER,
    excludeCredentials: listOf(
      record<{ id: string; type: string; transports: string[] }>({
        id: TEXT,
        type: oneOf('public-key'),
        transports: listOf(TEXT),
      }),
    ),
    authenticatorSelection: record<{ residentKey: string; requireResidentKey: boolean; userVerification: string }>({
      residentKey: oneOf('required'),
      requireResidentKey: oneOf(true),
      userVerification: USER_VERIFICATION,
    }),
    attestation: oneOf('none'),
  }),
);

/** The answer that starts a ceremony whose id the client sends back. */
export const ceremonyWith = (options: Schema): Schema =>
  record<{ ceremony_id: string; options: unknown }>({ ceremony_id: TEXT, options });
