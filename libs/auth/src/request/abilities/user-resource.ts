import { Injectable } from '@nestjs/common';
import { Realm } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { UserProvider } from '../../foundation/ports/user-provider';

/**
 * A user as the API shows it.
 *
 * @publicApi
 */
export interface UserResource {
  data: {
    id: string;
    /** Null where users have no such notion. */
    email_verified: boolean | null;
    /** What the asking token may do; only for its own subject, and only where abilities say anything. */
    abilities?: readonly string[];
    /** Whether those abilities are pinned to the session. */
    token_pinned?: boolean;
    [field: string]: unknown;
  };
}

/** Shows users of the realm. */
@Injectable()
export class UserResources {
  constructor(
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {}

  describe(user: object, caller: Caller | undefined, fields: object): UserResource {
    const id = this.users.idOf(user);
    const own = caller?.userId === id && caller.user.constructor === user.constructor;
    const known = {
      id,
      email_verified: this.users.isEmailVerified(user),
      ...(own && this.abilitiesOf(caller)),
    };
    // What a token may do is never the host's to say, not even where we say nothing of it.
    const { abilities: _abilities, token_pinned: _pinned, ...others } = fields as UserResource['data'];
    return { data: { ...known, ...others, ...known } };
  }

  /** An empty list says "in use, and nothing granted"; no list says that abilities are not asked about here. */
  private abilitiesOf({ grant, claims }: Caller): object {
    const pinned = claims.pin === true;
    const matter = this.realm.abilitiesInUse || grant.abilities.length > 0 || pinned;
    return matter ? { abilities: grant.abilities, token_pinned: pinned } : {};
  }
}
