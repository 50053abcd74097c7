import type { Type } from '@nestjs/common';
import type { ChangeKind } from '../ports/mail';
import { UserProvider } from '../ports/user-provider';

/** What a source of notices can listen to and use: the events and the services of one realm. */
export interface ChangeContext {
  /** Calls `listener` for the events of the realm. */
  readonly on: <E extends { readonly guard: string }>(event: Type<E>, listener: (event: E) => void) => void;
  readonly get: <T>(service: Type<T> | (abstract new (...args: never[]) => T)) => T;
}

/**
 * Queues a notice.
 *
 * @param to the id of a user, how to find it when the mail is prepared, or a user that cannot be read any more
 * @param isTrue whether the change still holds when the mail is prepared; by default it does
 */
export type InformOwner = (
  to: string | (() => Promise<string | null>) | { readonly user: object },
  isTrue?: () => Promise<boolean>,
) => void;

/** Sends a notice for each change of one kind. Is called once for a realm, if the notice is on. */
export type ChangeSource = (context: ChangeContext, send: InformOwner) => void;

/** A change of a credential, in the words of OpenID CAEP 1.0 §3.3. */
export interface CredentialChange {
  readonly credential: 'password' | 'fido2-platform' | 'fido2-roaming' | 'app';
  readonly change: 'create' | 'update' | 'delete';
}

declare module './feature' {
  interface Feature {
    /** Which of its events are changes of credentials, for other systems that accept the account. */
    readonly credentialChanges?: readonly (CredentialChange & { readonly source: ChangeSource })[];
    /** What causes the mails about changes to the owner of an account, by their kind. */
    readonly informs?: { readonly [Kind in ChangeKind]?: readonly ChangeSource[] };
  }
}

/**
 * Sends a notice for each event.
 *
 * @param userOf the user to inform; null for none
 */
export const informOn =
  <E extends { readonly guard: string }>(
    event: Type<E>,
    userOf: (event: E, users: UserProvider) => string | null,
  ): ChangeSource =>
  ({ on, get }, send) =>
    on(event, (emitted) => {
      const userId = userOf(emitted, get(UserProvider));
      if (userId !== null) send(userId);
    });

export const userIdOf = ({ userId }: { readonly userId: string }): string => userId;
