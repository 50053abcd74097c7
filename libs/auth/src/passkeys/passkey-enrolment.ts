import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { Injectable } from '@nestjs/common';
import { clip } from '../http/client-info';
import { FIELD_MAX } from '../http/fields';
import { AuthEvents } from '../kernel/auth-events';
import { Realm } from '../realm/realm';
import { AccountTurns } from '../sessions/account-turns';
import type { Caller } from '../tokens/caller';
import { UserProvider } from '../users/user-provider';
import { Ceremonies } from './ceremonies';
import { ALGORITHMS, userHandleOf } from './credential.policy';
import { PasskeyAdded } from './passkey-added.event';
import { creationOptions } from './passkey-options.policy';
import { PasskeyRefused } from './passkey-refused.exception';
import { PasskeyStore } from './passkey.store';
import { RegistrationVerifier } from './registration-verifier';
import { SealedKeys } from './sealed-keys';

/** Adds a passkey to the caller's account. */
@Injectable()
export class PasskeyEnrolment {
  constructor(
    private readonly ceremonies: Ceremonies,
    private readonly verifier: RegistrationVerifier,
    private readonly store: PasskeyStore,
    private readonly keys: SealedKeys,
    private readonly turns: AccountTurns,
    private readonly users: UserProvider,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  async options({ userId, user }: Caller): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const holder = {
      handle: userHandleOf(userId),
      name: this.users.identifierOf(user) || userId,
      passkeys: await this.store.of(userId),
    };
    return creationOptions(
      this.realm.options.passkeys,
      ALGORITHMS,
      holder,
      await this.ceremonies.startRegistration(userId),
    );
  }

  /** @throws PasskeyRefused; Unauthenticated where the caller's session has ended meanwhile */
  async register(caller: Caller, credential: unknown, name: string | null): Promise<void> {
    const { userId, guard } = caller;
    const challenge = await this.ceremonies.takeRegistration(userId);
    const found = challenge && (await this.verifier.verify(credential, challenge));
    if (!found) throw new PasskeyRefused('not_registered');
    const publicKey = this.keys.seal({ credentialId: found.credentialId, userId }, found.publicKey);
    const passkey = { ...found, userId, name: clip(name, FIELD_MAX), publicKey };
    const stored = await this.turns.asSession(caller, (sql) => this.store.add(sql, passkey));
    if (!stored) throw new PasskeyRefused('not_registered');
    this.events.emit(new PasskeyAdded(userId, found.credentialId, guard));
  }
}
