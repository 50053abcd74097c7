/**
 * The session in React 18 and later. Create the client outside of components, once for each guard and page.
 *
 * ```tsx
 * import { createAuthClient } from '@svc/auth-client';
 * import { AuthProvider, useAuth, useSession } from '@svc/auth-client/react';
 *
 * const auth = createAuthClient();
 * createRoot(root).render(<AuthProvider auth={auth}><App /></AuthProvider>);
 * ```
 *
 * @module @svc/auth-client/react
 */

'use client';

import {
  type ReactElement,
  type ReactNode,
  createContext,
  createElement,
  useContext,
  useEffect,
  useSyncExternalStore,
} from 'react';
import { LOADING, type SessionState, stateOf } from './state.js';
import type { AuthClient } from './types.js';

export type { SessionState } from './state.js';

const Context = createContext<AuthClient | null>(null);

/**
 * Gives the client to {@link useAuth} and {@link useSession} of the components below, and restores the session of an earlier page
 * in the browser: once, also in StrictMode and after a second mount.
 */
export function AuthProvider({ auth, children }: { auth: AuthClient; children?: ReactNode }): ReactElement {
  useEffect(() => stateOf(auth).start(), [auth]);
  return createElement(Context.Provider, { value: auth }, children);
}

/** The client of the nearest {@link AuthProvider}. It is the same object in each rendering. */
export function useAuth(): AuthClient {
  const auth = useContext(Context);
  if (!auth) throw new Error('There is no <AuthProvider> above this component.');
  return auth;
}

/** The session. The component is rendered again when it begins, is renewed or ends, also in another tab. */
export function useSession(): SessionState {
  const { subscribe, read } = stateOf(useAuth());
  return useSyncExternalStore(subscribe, read, () => LOADING);
}
