/** The browser's part of WebAuthn: registration and authentication with a passkey. */

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

const api = () => globalThis.PublicKeyCredential;

export const supportsPasskeys = (): boolean => !!api()?.parseRequestOptionsFromJSON;

/** @param begin sends `POST /passkeys/login-options` */
export function openPasskeys(begin: () => Promise<unknown>) {
  /** A page can have only one WebAuthn request at a time: every other request ends the autofill. */
  let autofill = new AbortController();
  const stop = () => autofill.abort();

  const prove = async ({ ceremony_id, options }: Ceremony, more?: CredentialRequestOptions): Promise<PasskeyProof> => {
    const publicKey = api().parseRequestOptionsFromJSON(options);
    const credential = (await navigator.credentials.get({ publicKey, ...more })) as PublicKeyCredential;
    return { ceremony_id, credential: credential.toJSON() };
  };

  return {
    stop,
    /** Authenticates with a passkey that the user chooses in a dialog of the browser. */
    async get() {
      stop();
      return prove((await begin()) as Ceremony);
    },
    /** Creates a passkey with the options of `POST /passkeys/registration-options`. */
    async create(options: unknown): Promise<unknown> {
      stop();
      const publicKey = api().parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
      return ((await navigator.credentials.create({ publicKey })) as PublicKeyCredential).toJSON();
    },
    /** Waits until the user chooses a passkey in the suggestions of a field. @returns null if the offer has ended */
    async offer(left?: AbortSignal): Promise<PasskeyProof | null> {
      if (!supportsPasskeys() || !(await api().isConditionalMediationAvailable?.())) return null;
      stop();
      autofill = new AbortController();
      const ended = AbortSignal.any(left ? [autofill.signal, left] : [autofill.signal]);
      while (!ended.aborted) {
        const ceremony = (await begin().catch(() => null)) as Ceremony | null;
        if (!ceremony) break;
        // A ceremony expires after its timeout: the offer continues with a new one.
        const signal = AbortSignal.any([ended, AbortSignal.timeout(ceremony.options.timeout * 0.9)]);
        const proof = await prove(ceremony, { mediation: 'conditional', signal }).catch(() => null);
        if (proof) return proof;
        if (!signal.aborted) break;
      }
      return null;
    },
  };
}
