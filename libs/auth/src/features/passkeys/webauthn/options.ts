import { schema } from '../../../kit';
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

const USER_VERIFICATION = schema.oneOf('required', 'preferred', 'discouraged');

export const REQUEST_OPTIONS = schema.namedSchema(
  'AuthPasskeyRequestOptions',
  schema.record<Omit<RequestOptions, 'hints' | 'extensions'>>({
    challenge: schema.TEXT,
    rpId: schema.TEXT,
    timeout: schema.INTEGER,
    allowCredentials: schema.listOf(schema.OBJECT),
    userVerification: USER_VERIFICATION,
  }),
);

export const CREATION_OPTIONS = schema.namedSchema(
  'AuthPasskeyCreationOptions',
  schema.record<Omit<CreationOptions, 'hints' | 'extensions' | 'attestationFormats'>>({
    rp: schema.record<{ id: string; name: string }>({ id: schema.TEXT, name: schema.TEXT }),
    user: schema.record<CreationOptions['user']>({ id: schema.TEXT, name: schema.TEXT, displayName: schema.TEXT }),
    challenge: schema.TEXT,
    pubKeyCredParams: schema.listOf(
      schema.record<{ type: string; alg: number }>({ type: schema.oneOf('public-key'), alg: schema.INTEGER }),
    ),
    timeout: schema.INTEGER,
    excludeCredentials: schema.listOf(
      schema.record<{ id: string; type: string; transports: string[] }>({
        id: schema.TEXT,
        type: schema.oneOf('public-key'),
        transports: schema.listOf(schema.TEXT),
      }),
    ),
    authenticatorSelection: schema.record<{
      residentKey: string;
      requireResidentKey: boolean;
      userVerification: string;
    }>({
      residentKey: schema.oneOf('required'),
      requireResidentKey: schema.oneOf(true),
      userVerification: USER_VERIFICATION,
    }),
    attestation: schema.oneOf('none'),
  }),
);

/** The answer that starts a ceremony whose id the client sends back. */
export const ceremonyWith = (options: schema.Schema): schema.Schema =>
  schema.record<{ ceremony_id: string; options: unknown }>({ ceremony_id: schema.TEXT, options });
