import { Injectable } from '@nestjs/common';
import { Realm } from '../realm/realm';
import type { FactorMatch } from '../second-step/factor-match';
import { PasskeyFactor } from '../second-step/passkey-factor';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyRefused } from './passkey-refused.exception';
import { PasskeyStore } from './passkey.store';

/** A passkey as the second step of a password login. */
@Injectable()
export class PasskeySecondStep extends PasskeyFactor {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly store: PasskeyStore,
    private readonly realm: Realm,
  ) {
    super();
  }

  async isRequiredOf(user: object): Promise<boolean> {
    const { required } = this.realm.options.passkeys;
    return typeof required === 'function' ? required(user) : required;
  }

  isHeldBy(userId: string): Promise<boolean> {
    return this.store.existsFor(userId);
  }

  /** @throws PasskeyRefused */
  async match(userId: string, ceremonyId: string, credential: object): Promise<FactorMatch> {
    const owner = await this.assertions.verify(ceremonyId, credential);
    if (owner.userId !== userId) throw new PasskeyRefused('not_verified');
    // The ceremony is used up already.
    return { amr: 'webauthn', spend: async () => true };
  }
}
