/** The browser's part of WebAuthn: registration and authentication with a passkey. */

import { base64urlOf, bytesOf } from './base64url.js';
import type { AuthError } from './errors.js';
import { once, waitAfter } from './http.js';

/** The answer of `POST /passkeys/login-options`. */
interface Ceremony {
  ceremony_id: string;
  options: PublicKeyCredentialRequestOptionsJSON & { timeout: number };
}

/** The body of the routes that take a passkey. */
export interface PasskeyProof {
  ceremony_id: string;
  credential: unknown;
}

/** The members of a response that are bytes. */
const BUFFERS = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];

/** The errors after which the offer of passkeys continues: of a request, and of a user who has cancelled a dialog. */
const PASSING = ['AuthError', 'NotAllowedError'];

/**
 * A signal that is aborted when the time is over and the page is used, or with `ended`. So unused pages send
 * no requests, and an open dialog of the browser is not closed: the page below it has no such events.
 */
const nextUse = (ms: number, ended: AbortSignal): AbortSignal => {
  const used = new AbortController();
  const signal = AbortSignal.any([ended, used.signal]);
  setTimeout(() => {
    for (const event of ['pointermove', 'pointerdown', 'keydown'])
      addEventListener(event, () => used.abort(), { signal });
  }, ms);
  return signal;
};

const api = () => globalThis.PublicKeyCredential;

export const supportsPasskeys = (): boolean => !!api();

/** The reason for which the server refuses a passkey that no account has. */
const UNKNOWN = 'unknown_passkey';

/*
 * Options and credentials are converted here. Older browsers have no `parseRequestOptionsFromJSON`,
 * `parseCreationOptionsFromJSON` and `toJSON`, and password managers replace them with functions that throw.
 */

const challengeOf = ({ challenge }: { challenge: string }) => ({ challenge: bytesOf(challenge) });
const listOf = (list: PublicKeyCredentialDescriptorJSON[] = []) =>
  list.map((one) => ({ ...one, id: bytesOf(one.id) }) as PublicKeyCredentialDescriptor);

/** What the server reads of a credential. */
const jsonOf = (credential: Credential | null) => {
  const { rawId, response } = credential as PublicKeyCredential;
  const id = base64urlOf(rawId);
  const answer = response as AuthenticatorAttestationResponse;
  const fields: Record<string, unknown> = { transports: answer.getTransports?.() };
  for (const name of BUFFERS) {
    const bytes = (response as unknown as Record<string, ArrayBuffer | null>)[name];
    if (bytes) fields[name] = base64urlOf(bytes);
  }
  return { id, rawId: id, type: 'public-key', response: fields, clientExtensionResults: {} };
};

/** Not all browsers have this function, and password managers replace it, too. */
const forget = async (passkey: UnknownCredentialOptions) => {
  try {
    await api().signalUnknownCredential(passkey);
  } catch {
    // The browser offers it again.
  }
};

/** @param begin sends `POST /passkeys/login-options` */
export function openPasskeys(begin: () => Promise<unknown>) {
  /** A page can have only one WebAuthn request at a time: every other request ends the autofill. */
  let autofill = new AbortController();
  const endOffer = () => autofill.abort();
  /** The last passkey with which the user has authenticated. */
  let proved: UnknownCredentialOptions;

  const prove = async ({ ceremony_id, options }: Ceremony, more?: CredentialRequestOptions): Promise<PasskeyProof> => {
    const publicKey = {
      ...options,
      ...challengeOf(options),
      allowCredentials: listOf(options.allowCredentials),
    } as PublicKeyCredentialRequestOptions;
    const credential = jsonOf(await navigator.credentials.get({ publicKey, ...more }));
    proved = { rpId: options.rpId!, credentialId: credential.id };
    return { ceremony_id, credential };
  };

  return {
    endOffer,
    /** Authenticates with a passkey that the user chooses in a dialog of the browser. */
    askFor: once(async () => {
      endOffer();
      return prove((await begin()) as Ceremony);
    }),
    /** After a refused request: if no account has the passkey, the browser no longer offers it. */
    refused(error: AuthError): never {
      if (error.reason === UNKNOWN) void forget(proved);
      throw error;
    },
    /** Creates a passkey with the options of a route of the server. Any other request ends one that waits, as the autofill. */
    enrol: once(async (options: unknown, more?: object): Promise<unknown> => {
      endOffer();
      const { signal } = (autofill = new AbortController());
      const given = options as PublicKeyCredentialCreationOptionsJSON;
      const publicKey = {
        ...given,
        ...challengeOf(given),
        user: { ...given.user, id: bytesOf(given.user.id) },
        excludeCredentials: listOf(given.excludeCredentials),
      } as PublicKeyCredentialCreationOptions;
      return jsonOf(await navigator.credentials.create({ publicKey, signal, ...more }));
    }),
    /** Waits until the user chooses a passkey in the suggestions of a field. @returns null if the offer has ended */
    async offer(left?: AbortSignal): Promise<PasskeyProof | null> {
      endOffer();
      const { signal: own } = (autofill = new AbortController());
      if (!supportsPasskeys() || !(await api().isConditionalMediationAvailable())) return null;
      const ended = AbortSignal.any([own, left ?? own]);
      let failures = 0;
      while (!ended.aborted) {
        let signal = ended;
        try {
          const ceremony = (await begin()) as Ceremony;
          // Half of the time of the ceremony is left for the dialog that opens after the choice.
          signal = nextUse(ceremony.options.timeout / 2, ended);
          return await prove(ceremony, { mediation: 'conditional', signal });
        } catch (error) {
          if (signal.aborted) continue;
          if (!PASSING.includes((error as AuthError).name)) throw error;
          const next = nextUse(waitAfter(error as AuthError, failures++), ended);
          await new Promise((resolve) => next.addEventListener('abort', resolve));
        }
      }
      return null;
    },
  };
}
