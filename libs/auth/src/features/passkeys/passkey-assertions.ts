import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { Injectable } from '@nestjs/common';
import { Realm, event, type http, identity, input, session } from '../../kit';
import { AssertionVerifier } from './webauthn/verify-assertion';
import { Ceremonies } from './ceremonies';
import { assertionFrom, userHandleOf } from './webauthn/responses';
import { PasskeyBackupChanged, PasskeyCloneDetected } from './passkeys.events';
import { requestOptions } from './webauthn/options';
import { type PasskeyRefusal, PasskeyRefused } from './passkeys.errors';
import { type FoundPasskey, PasskeyStore, type PublicKeyOwner, EncryptedKeys } from './passkey.store';
import type { Usage } from './sign-count.policy';

/** Runs login ceremonies and verifies passkeys, for sign-in, step-up and the second factor. */
@Injectable()
export class PasskeyAssertions {
  constructor(
    private readonly ceremonies: Ceremonies,
    private readonly store: PasskeyStore,
    private readonly keys: EncryptedKeys,
    private readonly verifier: AssertionVerifier,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
    private readonly users: identity.TimedUserProvider,
  ) {}

  /** Starts a login ceremony. {@link verify} completes it. */
  async start(): Promise<{ ceremony_id: string; options: PublicKeyCredentialRequestOptionsJSON }> {
    const { ceremonyId, challenge } = await this.ceremonies.startLogin();
    return { ceremony_id: ceremonyId, options: requestOptions(this.realm.options.passkeys, challenge) };
  }

  /**
   * Verifies the response to a login ceremony. Returns the passkey and its owner. The user may not exist any more, so the
   * caller has to look it up.
   *
   * @param credential the unchecked value from the client
   * @param admit refuses an owner who may not use the passkey, after the signature was verified and before the use is recorded
   * @throws PasskeyRefused for every invalid response, `unknown` only for an id that no row has; StoreUnavailable; Error for a stored key that cannot be decrypted
   */
  async verify(
    ceremonyId: string,
    credential: unknown,
    admit?: (userId: string) => Promise<void>,
  ): Promise<PublicKeyOwner> {
    // First, so that a ceremony cannot be answered twice, whatever the outcome.
    const challenge = await this.ceremonies.takeLogin(ceremonyId);
    const response = assertionFrom(credential);
    if (!challenge || !response) throw new PasskeyRefused('not_verified');
    const passkey = await this.store.find(response.id);
    if (!passkey) throw new PasskeyRefused('unknown');
    const { userHandle } = response.response;
    // Without a user handle the id alone names the owner: it has one in all guards together.
    if (userHandle !== undefined && userHandle !== (passkey.userHandle ?? userHandleOf(passkey.userId)))
      throw new PasskeyRefused('not_verified');
    const owner = { credentialId: response.id, userId: passkey.userId };
    const publicKey = this.keyOf(owner, passkey);
    const used = publicKey && (await this.verifier.verify(response, challenge, publicKey));
    if (!used) throw new PasskeyRefused('not_verified');
    // A row that no user of this guard can use costs the same queries as the passkey of a user who must verify the email:
    // otherwise the time would show whether a registration with `registration.concealExisting` created an account.
    if (passkey.guard !== this.realm.guard) {
      await this.store.find(response.id);
      throw new PasskeyRefused('not_verified');
    }
    await admit?.(owner.userId);
    await this.record(owner, used);
    return owner;
  }

  /**
   * As {@link verify}, for a user who is known already.
   *
   * @param refusal of the passkey of another user
   */
  async verifyOf(
    userId: string,
    ceremonyId: string,
    credential: unknown,
    refusal: PasskeyRefusal,
  ): Promise<PublicKeyOwner> {
    return this.verify(ceremonyId, credential, async (id) => {
      if (id === userId) return;
      // As a login does, so that the passkey of a registration does not show whether the registration created the account.
      await this.users.findById(id);
      throw new PasskeyRefused(refusal);
    });
  }

  /**
   * Whether a verified passkey still exists. Called after its session is stored. A removal ends the sessions
   * afterwards. So either this check finds no passkey, or the removal ends the session.
   */
  isCurrent({ credentialId }: PublicKeyOwner): Promise<boolean> {
    return this.store.exists(credentialId);
  }

  /**
   * The key of a stored passkey; null if only another application can decrypt it. The key of another guard is used like one of
   * this guard, so that neither the answer nor the time shows to which guard a passkey belongs.
   */
  private keyOf(owner: PublicKeyOwner, { guard, publicKey }: FoundPasskey): Uint8Array<ArrayBuffer> | null {
    if (guard === null || guard === this.realm.guard) return this.keys.decrypt(owner, publicKey);
    return this.keys.decryptIfOurs({ ...owner, guard }, publicKey);
  }

  /** Records the use. The signature is verified before, so only the authenticator or a copy of it can cause an alarm. */
  private async record({ userId, credentialId }: PublicKeyOwner, used: Usage): Promise<void> {
    const use = await this.store.recordUse(credentialId, used);
    const { guard } = this.realm;
    if (use?.verdict === 'clone') this.events.emit(new PasskeyCloneDetected(userId, credentialId, guard));
    else if (use?.change)
      this.events.emit(new PasskeyBackupChanged(userId, credentialId, guard, used.backedUp, use.change));
    if (use?.verdict !== 'accept') throw new PasskeyRefused('not_verified');
  }
}

/** The response to a login ceremony, in the body of a challenge. */
export class AssertionFields {
  @input.OptionalText()
  ceremony_id: string | null = null;

  @input.OptionalObject()
  credential: object | null = null;
}

/** Verifies a passkey as the second factor of a password login. */
@Injectable()
export class PasskeyAsSecondFactor extends session.SecondFactor {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly store: PasskeyStore,
  ) {
    super();
  }

  async methodsOf(userId: string): Promise<http.SecondFactorMethod[] | null> {
    return (await this.isHeldBy(userId)) ? ['passkey'] : null;
  }

  override isHeldBy(userId: string): Promise<boolean> {
    return this.store.existsFor(userId);
  }

  async stateOf(userId: string): Promise<string | null> {
    const ids = (await this.store.list(userId)).map(({ id }) => id);
    return ids.length ? ids.toSorted().join() : null;
  }

  /** @throws PasskeyRefused */
  async match(userId: string, { ceremony_id: ceremonyId, credential }: AssertionFields): Promise<session.FactorMatch> {
    const used = await this.assertions.verifyOf(userId, ceremonyId!, credential, 'not_verified');
    // The verification has consumed the ceremony.
    return {
      credential: { id: used.credentialId, isCurrent: () => this.assertions.isCurrent(used) },
      spend: async () => true,
    };
  }
}
