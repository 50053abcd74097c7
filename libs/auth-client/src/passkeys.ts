/** The browser's part of WebAuthn: registration and authentication with a passkey. */

import type { AuthError } from './errors.js';
import { waitAfter } from './http.js';

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

export const supportsPasskeys = (): boolean => !!api()?.parseRequestOptionsFromJSON;

/** @param begin sends `POST /passkeys/login-options` */
export function openPasskeys(begin: () => Promise<unknown>) {
  /** A page can have only one WebAuthn request at a time: every other request ends the autofill. */
  let autofill = new AbortController();
  const endOffer = () => autofill.abort();

  const prove = async ({ ceremony_id, options }: Ceremony, more?: CredentialRequestOptions): Promise<PasskeyProof> => {
    const publicKey = api().parseRequestOptionsFromJSON(options);
    const credential = (await navigator.credentials.get({ publicKey, ...more })) as PublicKeyCredential;
    return { ceremony_id, credential: credential.toJSON() };
  };

  return {
    endOffer,
    /** Authenticates with a passkey that the user chooses in a dialog of the browser. */
    async askFor() {
      endOffer();
      return prove((await begin()) as Ceremony);
    },
    /** Creates a passkey with the options of a route of the server. Any other request ends one that waits, as the autofill. */
    async enrol(options: unknown, more?: object): Promise<unknown> {
      endOffer();
      const { signal } = (autofill = new AbortController());
      const publicKey = api().parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
      return ((await navigator.credentials.create({ publicKey, signal, ...more })) as PublicKeyCredential).toJSON();
    },
    /** Waits until the user chooses a passkey in the suggestions of a field. @returns null if the offer has ended */
    async offer(left?: AbortSignal): Promise<PasskeyProof | null> {
      endOffer();
      autofill = new AbortController();
      const ended = AbortSignal.any([autofill.signal, left ?? autofill.signal]);
      if (!supportsPasskeys() || !(await api().isConditionalMediationAvailable())) return null;
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
