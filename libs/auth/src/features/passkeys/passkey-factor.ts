import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import type { Sql } from '../../foundation/platform/database';
import { callHost } from '../../foundation/platform/deadline';
import { Realm } from '../../foundation/realm/realm';
import { type FactorMatch, PasskeyFactor, type RemovedPasskeys } from '../login-challenge/second-factors';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyRemoved } from './passkeys.events';
import { PasskeyStore } from './passkey.store';

/** Verifies a passkey as the second factor of a password login. */
@Injectable()
export class PasskeyAsSecondFactor extends PasskeyFactor {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly store: PasskeyStore,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {
    super();
  }

  async isRequiredOf(user: object): Promise<boolean> {
    const { required } = this.realm.options.passkeys;
    return typeof required === 'function' ? callHost('passkeys.required', () => required(user)) : required;
  }

  isHeldBy(userId: string): Promise<boolean> {
    return this.store.existsFor(userId);
  }

  async idsOf(userId: string): Promise<string[]> {
    return (await this.store.list(userId)).map(({ id }) => id);
  }

  /** @throws PasskeyRefused */
  async match(userId: string, ceremonyId: string, credential: object): Promise<FactorMatch> {
    const used = await this.assertions.verifyOf(userId, ceremonyId, credential, 'not_verified');
    const passkey = { passkeyId: used.credentialId, isCurrent: () => this.assertions.isCurrent(used) };
    // The verification has consumed the ceremony.
    return { amr: 'webauthn', passkey, spend: async () => true };
  }

  async removeAll(sql: Sql, userId: string, since?: Date): Promise<RemovedPasskeys> {
    const ids = await this.store.removeAllOf(sql, userId, since);
    const { guard } = this.realm;
    const emitEvents = (): void => ids.forEach((id) => this.events.emit(new PasskeyRemoved(userId, id, guard)));
    return { removed: ids.length, emitEvents };
  }
}
