import { Injectable } from '@nestjs/common';
import { clip } from '../http/client-info';
import { FIELD_MAX } from '../http/fields';
import { AuthEvents } from '../kernel/auth-events';
import { Realm } from '../realm/realm';
import { isCredentialId, userHandleOf } from './credential.policy';
import { NoSuchPasskey } from './no-such-passkey.exception';
import { PasskeyRemoved } from './passkey-removed.event';
import { type ListedPasskey, PasskeyStore } from './passkey.store';

/** A user's passkeys, and what `PublicKeyCredential.signalAllAcceptedCredentials` is to be told of them. */
export interface PasskeyList {
  readonly passkeys: readonly ListedPasskey[];
  readonly rp_id: string;
  readonly user_handle: string;
  readonly all_accepted_credential_ids: readonly string[];
}

/** The passkeys of one user, to look at, to name and to delete. */
@Injectable()
export class OwnPasskeys {
  constructor(
    private readonly store: PasskeyStore,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  async of(userId: string): Promise<PasskeyList> {
    const stored = await this.store.of(userId);
    return {
      passkeys: stored.map(({ id, name, last_used_at }) => ({ id, name, last_used_at })),
      rp_id: this.realm.options.passkeys.rpId!,
      user_handle: userHandleOf(userId),
      all_accepted_credential_ids: stored.map(({ id }) => id),
    };
  }

  /** @throws NoSuchPasskey for every id that is not one of the user's */
  async rename(userId: string, id: string, name: string | null): Promise<void> {
    const renamed = isCredentialId(id) && (await this.store.rename(userId, id, clip(name, FIELD_MAX)));
    if (!renamed) throw new NoSuchPasskey();
  }

  /** Deletes one that is the user's; for every other id there is nothing to do. */
  async remove(userId: string, id: string): Promise<void> {
    const removed = isCredentialId(id) && (await this.store.remove(userId, id));
    if (removed) this.events.emit(new PasskeyRemoved(userId, id, this.realm.guard));
  }
}
