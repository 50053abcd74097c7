import { Injectable } from '@nestjs/common';
import { Expose } from 'class-transformer';
import { Realm } from '../../foundation/realm/realm';
import type { VerifiedToken } from '../../identity/users/grant';
import { UserProvider } from '../../foundation/ports/user-provider';

/** The fields of a user as the API shows it: those of the library, and those that the host adds. */
export class UserFields {
  /** A number where the user's id is one: see `UserProvider.publicIdOf`. */
  @Expose()
  id!: string | number;

  /** Whether the email is verified; null when the users of the guard have no email verification. */
  @Expose()
  email_verified!: boolean | null;

  /** The abilities of the token of the request; only for the token's own user, and only when abilities are in use. */
  @Expose()
  abilities?: readonly string[];

  /** Whether those abilities are pinned to the session. */
  @Expose()
  token_pinned?: boolean;

  [field: string]: unknown;
}

/**
 * A user as the API shows it. `ClassSerializerInterceptor` keeps the fields of the library with every strategy, and
 * applies the decorators of the objects among the fields of the host.
 *
 * @publicApi
 */
export class UserResource {
  @Expose()
  data!: UserFields;
}

/** Builds the API representation of the users of the realm. */
@Injectable()
export class UserResources {
  constructor(
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {}

  describe(user: object, caller: VerifiedToken | undefined, fields: object): UserResource {
    const own = caller?.userId === this.users.idOf(user) && caller.user.constructor === user.constructor;
    const libraryFields = {
      id: this.users.publicIdOf(user),
      email_verified: this.users.isEmailVerified(user),
      ...(own && this.abilitiesOf(caller)),
    };
    // The host must not set these two fields, not even when the library leaves them out.
    const { abilities: _abilities, token_pinned: _pinned, ...others } = shownFields(fields);
    const data = Object.setPrototypeOf({ ...libraryFields, ...others, ...libraryFields }, UserFields.prototype);
    return Object.assign(new UserResource(), { data });
  }

  /** An empty list means that abilities are in use and none is granted; no list means that abilities are not in use. */
  private abilitiesOf({ grant, claims }: VerifiedToken): object {
    const pinned = claims.pin === true;
    const inUse = this.realm.abilitiesInUse || grant.abilities.length > 0 || pinned;
    return inUse ? { abilities: grant.abilities, token_pinned: pinned } : {};
  }
}

/** The fields of an object. Those of an entity are the ones that it shows in JSON: a saved user has its hash in memory. */
const shownFields = (fields: object & { toJSON?: unknown }): Record<string, unknown> =>
  typeof fields.toJSON === 'function' ? fields.toJSON() : fields;
