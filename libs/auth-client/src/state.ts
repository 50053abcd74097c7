// What a framework shows of a session: the entries for React and Vue share it.

import type { AuthError } from './errors.js';
import type { AuthClient, AuthSession } from './types.js';

/** What a component shows. */
export interface SessionState {
  /** The current session; null if no user is signed in. */
  readonly session: AuthSession | null;
  /**
   * Whether it is not known yet if there is a session: show neither the account nor the form. It is true while a server renders,
   * and until {@link AuthClient.restore} has an answer.
   */
  readonly isLoading: boolean;
  /**
   * Why the session of an earlier page could not be restored; null otherwise. The client tries again by itself. Show it beside the
   * form.
   */
  readonly error: AuthError | null;
}

/** The state of a server that renders, and of the first rendering in the browser. */
export const LOADING: SessionState = { session: null, isLoading: true, error: null };

/** The state of one client, for any number of components. */
export interface StateOfClient {
  /** Returns the same object until something has changed. */
  read(): SessionState;
  /** Restores the session of an earlier page: once for each client, however often it is called. */
  start(): void;
  subscribe(listener: () => void): () => void;
}

const states = new WeakMap<AuthClient, StateOfClient>();

function open(auth: AuthClient): StateOfClient {
  let state = LOADING;
  let error: AuthError | null = null;
  let isLoading = true;
  let started: Promise<void> | undefined;
  const start = () =>
    (started ??= auth.restore().then(
      () => void (isLoading = false),
      (reason: AuthError) => {
        isLoading = false;
        error = reason;
      },
    ));
  return {
    read() {
      const { session } = auth;
      // An earlier failure says nothing about what comes after a session.
      if (session) [isLoading, error] = [false, null];
      if (state.session !== session || state.isLoading !== isLoading || state.error !== error)
        state = { session, isLoading, error };
      return state;
    },
    start: () => void start(),
    subscribe(listener) {
      let isLive = true;
      const ends = (['signedIn', 'renewed', 'signedOut'] as const).map((event) => auth.on(event, listener));
      ends.push(
        auth.on('notRestored', () => {
          error = null;
          listener();
        }),
      );
      void start().then(() => isLive && listener());
      return () => {
        isLive = false;
        for (const end of ends) end();
      };
    },
  };
}

/** The state of a client; the same one for each call. */
export function stateOf(auth: AuthClient): StateOfClient {
  const state = states.get(auth) ?? open(auth);
  states.set(auth, state);
  return state;
}
