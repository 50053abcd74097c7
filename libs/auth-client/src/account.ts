/**
 * Further ways to sign in, and the settings of an account. Load it beside the client, on the pages that need it.
 *
 * ```ts
 * import { createAuthClient } from '@svc/auth-client';
 * import { createAccountClient } from '@svc/auth-client/account';
 *
 * const auth = createAuthClient();
 * const account = createAccountClient(auth);
 * ```
 *
 * @module @svc/auth-client/account
 */

import type {
  AuthClient,
  EnrolmentChallenge,
  LoginChallenge,
  Registration,
  SignInFields,
  TokenStorage,
} from './types.js';

/** A passkey of the user. */
export interface Passkey {
  id: string;
  name: string | null;
  /** Unix seconds; null if it was never used. */
  last_used_at: number | null;
}

/** The passkeys of the user, and what the browser needs to forget deleted ones. */
export interface PasskeyList {
  passkeys: Passkey[];
  rp_id: string;
  user_handle: string;
  /** The name by which the browser lists them. */
  user_name: string;
  all_accepted_credential_ids: string[];
}

/** A device on which the user has signed in (`features.knownDevices`). Times are in ISO 8601. */
export interface KnownDevice {
  id: string;
  first_seen_at: string;
  last_seen_at: string;
  user_agent: string | null;
  /** Whether it is this one. */
  current: boolean;
}

/** A device on which the password alone is enough (`twoFactor.trustedDeviceDays`). Times are in ISO 8601. */
export interface TrustedDevice {
  id: string;
  created_at: string;
  expires_at: string;
  user_agent: string | null;
}

/** An access key of the user (`features.accessKeys`). Times are in ISO 8601. */
export interface AccessKey {
  id: string;
  label: string;
  /** What it may do, at most what the user may do at the time of a request. */
  abilities: string[];
  /** From which it is accepted; null for every network. */
  networks: string[] | null;
  created_at: string;
  /** Null if it does not expire. */
  expires_at: string | null;
  last_used_at: string | null;
}

/** What a new access key is for, and where it counts. */
export interface NewAccessKey {
  /** A name for people, at most 100 characters. */
  label: string;
  /** None by default. */
  abilities?: string[];
  /** By default the longest life that the server allows. */
  expires_in_days?: number;
  /** Addresses and networks (CIDR). By default every network. */
  networks?: string[];
}

/** An access key at its creation. */
export interface CreatedAccessKey extends AccessKey {
  /** The text of the key. It is in no other answer. */
  access_key: string;
}

/** What an authenticator app needs. Show `otpauth_uri` as a QR code, and the recovery codes after the first code was accepted. */
export interface TwoFactorEnrolment {
  otpauth_uri: string;
  recovery_codes: string[];
}

/**
 * Further ways to sign in, and the settings of an account. Each method needs its feature on the server. Errors are as for
 * {@link AuthClient}. A method that "asks for a confirmation" uses the option `confirm` of the client.
 */
export interface AccountClient {
  /**
   * Mails a code to sign in with. The answer does not show whether there is an account.
   *
   * The code is valid only in this browser, until `expires_in` seconds are over. In body mode, `localStorage` or your storage keeps the token of
   * the last request until the sign-in or the next request, so that the page that a mailed link opens can use it.
   */
  requestCode(email: string): Promise<{ expires_in: number }>;
  /**
   * Signs in with a mailed code.
   *
   * @returns null if the user is signed in; or a challenge, as after a password
   */
  signInWithCode(code: string, fields?: SignInFields): Promise<LoginChallenge | EnrolmentChallenge | null>;
  /** Returns the code of a mailed link (`#code=…`) and removes it from the address of the page; null if there is none. */
  codeInAddress(): string | null;

  /** Begins to set up an authenticator app, for a user who must have a second factor. It replaces an earlier start. */
  beginEnrolment(challenge: EnrolmentChallenge): Promise<TwoFactorEnrolment>;
  /** Completes it with a first code, and signs in. A wrong code leaves it usable; an expired one is `errors.enrolment_token`. */
  completeEnrolment(challenge: EnrolmentChallenge, code: string): Promise<void>;
  /** Creates a passkey for a user who must have a second factor, and signs in. Call it in a click. */
  completeEnrolmentWithPasskey(challenge: EnrolmentChallenge, name?: string): Promise<void>;

  /**
   * Creates an account with a passkey and without a password. Call it in a click. If the server refuses the registration, a
   * browser that can forgets the passkey.
   *
   * @param fields those of a registration, without a password
   * @returns null if the user is signed in; or the answer without a session
   */
  registerWithPasskey(fields: Record<string, unknown>): Promise<Registration | null>;
  /**
   * Lets the password manager create a first passkey without a question, where the browser can (WebAuthn Level 3, conditional
   * create). Call it after a sign-in with the password. It shows no error, because the user did not ask for a passkey.
   *
   * Do not wait for it before the next page is shown: the browser may leave the request unanswered until its timeout. Any other
   * WebAuthn request of the page ends it.
   *
   * @returns whether a passkey was created
   */
  createPasskeyQuietly(): Promise<boolean>;

  /** Lists the passkeys, and informs the browser, so that it no longer offers deleted ones and knows the name of the user. */
  passkeys(): Promise<PasskeyList>;
  /** Creates a passkey. Asks for a confirmation. Call it in a click. */
  addPasskey(name?: string): Promise<void>;
  /** Names a passkey. Asks for a confirmation. */
  renamePasskey(id: string, name: string): Promise<void>;
  /** Deletes a passkey. Asks for a confirmation. The last one of a user without a password stays: status 409. */
  deletePasskey(id: string): Promise<void>;

  /** Begins to set up an authenticator app. Asks for a confirmation. */
  enrolTwoFactor(): Promise<TwoFactorEnrolment>;
  /** Switches the second factor on with a first code. Asks for a confirmation. */
  confirmTwoFactor(code: string): Promise<void>;
  /** Switches the second factor off. Asks for a confirmation. */
  disableTwoFactor(): Promise<void>;
  /** How many recovery codes are left. */
  countRecoveryCodes(): Promise<{ remaining: number; total: number }>;
  /** Replaces the recovery codes. Asks for a confirmation. */
  newRecoveryCodes(): Promise<{ recovery_codes: string[] }>;

  /** Lists the devices on which the user has signed in. */
  devices(): Promise<KnownDevice[]>;
  /** Forgets a device: the next sign-in on it is one on a new device. Its sessions go on. */
  forgetDevice(id: string): Promise<void>;
  /** Lists the devices on which the password alone is enough. */
  trustedDevices(): Promise<TrustedDevice[]>;
  /** Ends the trust in one device. */
  endTrust(id: string): Promise<void>;
  /** Ends the trust in every device. */
  endAllTrust(): Promise<void>;
  /** Reports an unknown sign-in with the token of a mailed link: ends all sessions, and mails a link to reset the password. */
  reportSignIn(token: string): Promise<void>;

  readonly accessKeys: {
    /** Lists the access keys that were not revoked. */
    list(): Promise<AccessKey[]>;
    /** Creates an access key. Asks for a confirmation. One key too many is status 409. */
    create(key: NewAccessKey): Promise<CreatedAccessKey>;
    /** Revokes an access key. An unknown id has no effect. */
    revoke(id: string): Promise<void>;
  };

  /** Mails another link that verifies the address. */
  sendVerificationMail(): Promise<void>;
  /** Mails a link to a new address. Asks for a confirmation. The answer does not show whether the address is taken. */
  changeEmail(email: string): Promise<void>;
  /** Changes the address with the token that was mailed to the new one. Ends all other sessions. */
  confirmEmailChange(token: string): Promise<void>;
  /** Restores the former address with the token that was mailed to it. Ends all sessions, and mails a link to reset the password. */
  undoEmailChange(token: string): Promise<void>;
  /** Changes the user name. Asks for a confirmation. @param fields the configured login field, by its name */
  changeUsername(fields: Record<string, string>): Promise<void>;

  /** The data of the account. Asks for a confirmation. */
  exportAccount(): Promise<Record<string, unknown>>;
}

/** The answer of `POST /login/code`; in cookie mode without a token. */
interface RequestedCode {
  code_token?: string;
  expires_in: number;
}

/** @param auth the client of the page. Both have one session */
export function createAccountClient(auth: AuthClient): AccountClient {
  const { url, call, post, signIn, createPasskey } = auth.routes;
  const api = globalThis.PublicKeyCredential;
  const codeName = `svc-auth:${url}:code`;
  /** The token of the requested code, if the browser refuses storage. */
  let codeToken: string | undefined;
  const storage = async <T>(use: (store: TokenStorage) => T): Promise<Awaited<T> | undefined> => {
    try {
      return await use(auth.routes.storage ?? localStorage);
    } catch {
      // The browser refuses storage.
      return undefined;
    }
  };
  const path = (list: string, id: string): string => `${list}/${encodeURIComponent(id)}`;
  const dataOf = async <T>(list: string): Promise<T[]> => (await call<{ data: T[] }>('GET', list)).data;
  /** A link may end the session of this browser: a renewal shows whether it has. */
  const useLink = async (route: string, token: string): Promise<void> => {
    await post(route, { token });
    if (auth.session) await auth.renew().catch(() => undefined);
  };
  /** Informs the browser. Older ones have no such function, and password managers replace it with one that throws or does not answer. */
  const signal = async <D>(method: `signal${string}`, data: D): Promise<void> => {
    try {
      await (api as unknown as Record<string, (data: D) => unknown>)[method]!(data);
    } catch {
      // The browser is not informed.
    }
  };
  const enrol = ({ enrolment_token }: EnrolmentChallenge, more?: object) => ({ enrolment_token, ...more });

  const passkeys = async (): Promise<PasskeyList> => {
    const list = await call<PasskeyList>('GET', '/passkeys');
    const { rp_id: rpId, user_handle: userId, user_name: name, all_accepted_credential_ids: ids } = list;
    void signal('signalAllAcceptedCredentials', { rpId, userId, allAcceptedCredentialIds: ids });
    void signal('signalCurrentUserDetails', { rpId, userId, name, displayName: name });
    return list;
  };
  /** After a change of the address or the name: the browser lists the passkeys by it. */
  const renamed = (): void => {
    if (auth.session && api?.signalCurrentUserDetails !== undefined) void passkeys().catch(() => undefined);
  };

  return {
    async requestCode(email) {
      const { code_token, expires_in } = await post<RequestedCode>('/login/code', { email });
      codeToken = code_token;
      // An old one must not remain if the new one does not fit.
      await storage((store) => store.removeItem(codeName));
      if (code_token) await storage((store) => store.setItem(codeName, code_token));
      return { expires_in };
    },
    async signInWithCode(code, fields) {
      // Another tab may have asked for another code.
      const code_token = codeToken ?? (await storage((store) => store.getItem(codeName))) ?? undefined;
      const challenge = await signIn<LoginChallenge | EnrolmentChallenge | null>('/login/code/verify', {
        ...fields,
        code,
        code_token,
      });
      codeToken = undefined;
      await storage(async (store) => (await store.getItem(codeName)) === code_token && store.removeItem(codeName));
      return challenge;
    },
    codeInAddress() {
      const { hash, pathname, search } = location;
      const code = new URLSearchParams(hash.slice(1)).get('code');
      if (code) history.replaceState(history.state, '', pathname + search);
      return code;
    },

    beginEnrolment: (challenge) => post('/two-factor-enrolment', enrol(challenge)),
    completeEnrolment: (challenge, code) => signIn('/two-factor-enrolment/confirm', enrol(challenge, { code })),
    async completeEnrolmentWithPasskey(challenge, name) {
      const credential = await createPasskey(await post('/two-factor-enrolment/passkey-options', enrol(challenge)));
      await signIn('/two-factor-enrolment/passkey', enrol(challenge, { name, credential }));
    },

    async registerWithPasskey(fields) {
      const { ceremony_id, options } = await post<{ ceremony_id: string; options: { rp: { id: string } } }>(
        '/register/passkey/options',
        fields,
      );
      const credential = (await createPasskey(options)) as { id: string };
      return signIn<Registration | null>('/register/passkey', { ...fields, ceremony_id, credential }).catch(
        (error: { status: number }) => {
          // The browser forgets the passkey, which has no account.
          if (error.status === 422)
            void signal('signalUnknownCredential', { rpId: options.rp.id, credentialId: credential.id });
          throw error;
        },
      );
    },
    async createPasskeyQuietly() {
      try {
        if (!(await api.getClientCapabilities())['conditionalCreate']) return false;
        const options = await call<unknown>('POST', '/passkeys/conditional-options', undefined, true);
        const credential = await createPasskey(options, { mediation: 'conditional' });
        await call('POST', '/passkeys/conditional', { credential }, true);
        return true;
      } catch {
        // The browser has no such function, the user has a passkey, or the password was not filled in by the browser.
        return false;
      }
    },

    passkeys,
    async addPasskey(name) {
      const credential = await createPasskey(await call('POST', '/passkeys/registration-options'));
      await call('POST', '/passkeys', { name, credential });
    },
    renamePasskey: (id, name) => call('PATCH', path('/passkeys', id), { name }),
    deletePasskey: (id) => call('DELETE', path('/passkeys', id)),

    enrolTwoFactor: () => call('POST', '/two-factor'),
    confirmTwoFactor: (code) => call('POST', '/two-factor/confirm', { code }),
    disableTwoFactor: () => call('DELETE', '/two-factor'),
    countRecoveryCodes: () => call('GET', '/two-factor/recovery-codes'),
    newRecoveryCodes: () => call('POST', '/two-factor/recovery-codes'),

    async devices() {
      // In body mode, the token by which the server recognizes this browser.
      const token = await storage(
        async (store) => JSON.parse((await store.getItem(`svc-auth:${url}:device`))!)?.device_token,
      );
      if (!token) return dataOf('/devices');
      const init: RequestInit = { headers: { 'X-Svc-Device': token }, redirect: 'error', credentials: 'omit' };
      return (await auth.request<{ data: KnownDevice[] }>('GET', `${url}/devices`, null, init)).data;
    },
    forgetDevice: (id) => call('DELETE', path('/devices', id)),
    trustedDevices: () => dataOf('/trusted-devices'),
    endTrust: (id) => call('DELETE', path('/trusted-devices', id)),
    endAllTrust: () => call('DELETE', '/trusted-devices'),
    reportSignIn: (token) => useLink('/sessions/report', token),

    accessKeys: {
      list: () => dataOf('/access-keys'),
      create: (key) => call('POST', '/access-keys', key),
      revoke: (id) => call('DELETE', path('/access-keys', id)),
    },

    sendVerificationMail: () => call('POST', '/email/verification-notification'),
    changeEmail: (email) => call('POST', '/email/change', { email }),
    confirmEmailChange: (token) => useLink('/email/change/confirm', token).then(renamed),
    undoEmailChange: (token) => useLink('/email/change/undo', token).then(renamed),
    changeUsername: (fields) => call('POST', '/username', fields).then(renamed),

    exportAccount: () => call('GET', '/account/export'),
  };
}
