/**
 * The session in Vue 3.3 and later. Create the client outside of components, once for each guard and page.
 *
 * ```ts
 * import { createAuthClient } from '@svc/auth-client';
 * import { authPlugin } from '@svc/auth-client/vue';
 *
 * createApp(App).use(authPlugin(createAuthClient())).mount('#app');
 * ```
 *
 * @module @svc/auth-client/vue
 */

import { type InjectionKey, type Plugin, type ShallowRef, inject, shallowRef } from 'vue';
import { LOADING, type SessionState, stateOf } from './state.js';
import type { AuthClient } from './types.js';

export type { SessionState } from './state.js';

const KEY: InjectionKey<{ auth: AuthClient; state: Readonly<ShallowRef<SessionState>> }> = Symbol('svc-auth');

/**
 * Gives the client to {@link useAuth} and {@link useSession}, and restores the session of an earlier page, in the browser only. Its
 * listeners end with the application.
 */
export function authPlugin(auth: AuthClient): Plugin {
  return {
    install(app) {
      const state = shallowRef(LOADING);
      app.provide(KEY, { auth, state });
      // A server that renders has no session, and its applications are not unmounted.
      if (!globalThis.window) return;
      const { subscribe, read } = stateOf(auth);
      const end = subscribe(() => (state.value = read()));
      const { unmount } = app;
      app.unmount = () => {
        end();
        unmount();
      };
    },
  };
}

const injected = () => {
  const given = inject(KEY, null);
  if (!given) throw new Error('The application does not use authPlugin().');
  return given;
};

/** The client that was given to {@link authPlugin}. */
export const useAuth = (): AuthClient => injected().auth;

/** The session, as a ref whose value is replaced when the session begins, is renewed or ends, also in another tab. */
export const useSession = (): Readonly<ShallowRef<SessionState>> => injected().state;
