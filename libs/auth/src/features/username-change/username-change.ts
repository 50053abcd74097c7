import { Injectable } from '@nestjs/common';
import { RealmScope, type data, errors, event, identity, input, pg, session } from '../../kit';

/**
 * The identifier of a user, which is not the email, was changed.
 *
 * @publicApi
 */
export class UsernameChanged {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** The former identifier; null for a user without one. */
    readonly from: string | null,
    readonly to: string,
  ) {}
}

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** Applies the rules of the host to the identifier in a request. Returns it as it is stored. @throws ValidationFailed */
    readonly identifierChosen?: (services: data.GuardServices, request: { body?: unknown }) => Promise<string>;
  }
}

/** A concurrent change by the same user makes an attempt stale. */
const ATTEMPTS = 3;

/** Changes the identifier of the caller, where it is not the email (`POST /username`). Sessions stay. */
@Injectable()
export class UsernameChange {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly sessions: session.Sessions,
    private readonly standings: identity.AccountStandings,
    private readonly events: event.AuthEvents,
    private readonly scope: RealmScope,
  ) {}

  /**
   * @param request the request, to whose body the rules of the host apply
   * @throws ValidationFailed; IdentifierTaken, also for the present identifier of the user: usernames are public, so it shows
   * that one exists; Unauthenticated if the user does not exist any more, or the session has ended while the host checked the name
   */
  async change(caller: identity.Caller, identifier: string, request: { body?: unknown }): Promise<void> {
    const { userId } = caller;
    const { guard, options } = this.scope.realm;
    let to = identity.keptAs(options.username, identifier);
    for (const accept of this.scope.hooks('identifierChosen')) to = await accept(this.scope, request);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const user = await this.users.findById(userId);
      if (!user) throw new errors.Unauthenticated(true).withReason('unknown_user', userId);
      const from = this.users.identifierOf(user);
      const result = from === to ? 'taken' : await this.replace(caller, from, to);
      if (result === 'taken') break;
      if (result === 'stale') continue;
      this.events.emit(new UsernameChanged(userId, guard, from, to));
      return;
    }
    throw new session.IdentifierTaken(options.username);
  }

  /** @throws ValidationFailed if the column cannot contain it; Unauthenticated when the session has ended; SignInRefused */
  private async replace(caller: identity.Caller, from: string | null, to: string): Promise<identity.ReplacementResult> {
    const { userId } = caller;
    // Code of the host has run since the request was authenticated.
    await this.sessions.requireAlive(caller);
    await this.standings.refuse(userId);
    try {
      return await this.users.changeIdentifier(userId, { from, to });
    } catch (error) {
      const { username: field } = this.scope.realm.options;
      if (pg.isUnstorable(error))
        throw new errors.ValidationFailed({ [field]: [{ key: 'validation.invalid', params: { field } }] });
      throw error;
    }
  }
}

/** Body of `POST /username`: the identifier, under the name of the option `username`. */
export class UsernameChangeBody {
  @input.UsernameField()
  @input.RequiredText()
  identifier!: string;
}
