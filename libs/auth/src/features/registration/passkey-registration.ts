import { Injectable } from '@nestjs/common';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { Realm } from '../../foundation/realm/realm';
import { keptAs } from '../../identity/users/identifiers';
import { Ceremonies } from '../passkeys/ceremonies';
import { EncryptedKeys } from '../passkeys/encrypted-keys';
import type { AssertionRequest } from '../passkeys/passkey-login';
import type { NewCredential } from '../passkeys/passkey.entity';
import { NO_USER, PasskeyStore } from '../passkeys/passkey.store';
import { PasskeyRefused } from '../passkeys/passkeys.errors';
import { creationOptions } from '../passkeys/webauthn/options';
import { ALGORITHMS } from '../passkeys/webauthn/responses';
import { RegistrationVerifier } from '../passkeys/webauthn/verify-registration';
import type { AccountPasskey } from './new-accounts';
import { Registration, type RegistrationAnswer } from './registration';
import { type RegistrationFields, RegistrationForm } from './registration-form';

/** Registers accounts with a passkey and without a password (`POST /register/passkey`). */
@Injectable()
export class PasskeyRegistration {
  constructor(
    private readonly form: RegistrationForm,
    private readonly registration: Registration,
    private readonly ceremonies: Ceremonies,
    private readonly verifier: RegistrationVerifier,
    private readonly keys: EncryptedKeys,
    private readonly store: PasskeyStore,
    private readonly realm: Realm,
  ) {}

  /** Starts the ceremony of an account with these fields. Reads no account. @throws ValidationFailed */
  async options(request: object): Promise<{ ceremony_id: string; options: PublicKeyCredentialCreationOptionsJSON }> {
    const identifier = this.identifierIn(await this.form.read(request, false));
    const { ceremonyId, challenge, userHandle } = await this.ceremonies.startAccount(identifier);
    const holder = { handle: userHandle, name: identifier, passkeys: [] };
    // Required whatever `userVerification` is: the passkey takes the place of the password.
    const options = { ...this.realm.options.passkeys, userVerification: 'required' as const };
    return { ceremony_id: ceremonyId, options: creationOptions(options, ALGORITHMS, holder, challenge) };
  }

  /** @throws ValidationFailed, without using the ceremony up; PasskeyRefused; and the errors of {@link Registration.open} */
  async register(answer: AssertionRequest, request: object): Promise<RegistrationAnswer> {
    const fields = await this.form.read(request, false);
    return this.registration.open(fields, request, () => this.verified(answer, this.identifierIn(fields)));
  }

  /** Verifies the passkey before any account is read, so that its refusal shows none. */
  private async verified(
    { ceremony_id: ceremonyId, credential }: AssertionRequest,
    identifier: string,
  ): Promise<AccountPasskey> {
    const ceremony = await this.ceremonies.takeAccount(ceremonyId, identifier);
    const found = ceremony && (await this.verifier.verify(credential, ceremony.challenge, 'account'));
    if (!found) throw new PasskeyRefused('not_registered');
    return this.passkeyOf(found, ceremony.userHandle);
  }

  /** For a taken email that is concealed, the id is occupied: a later registration of it must not show that it is free. */
  private passkeyOf(found: NewCredential, userHandle: string): AccountPasskey {
    const { credentialId } = found;
    return {
      credentialId,
      store: async (sql, owner) => {
        if (owner === null && !this.realm.options.registration.concealExisting) return;
        const userId = owner ?? NO_USER;
        const publicKey = this.keys.encrypt({ credentialId, userId }, found.publicKey);
        const passkey = { ...found, userId, userHandle, name: null, publicKey };
        const isStored = await (owner === null ? this.store.occupy(sql, passkey) : this.store.add(sql, passkey));
        if (!isStored) throw new PasskeyRefused('not_registered');
      },
      isStored: () => this.store.exists(credentialId),
    };
  }

  /** The identifier as it is stored; empty where `hooks.registerRules` leaves it out. */
  private identifierIn(fields: RegistrationFields): string {
    const { username } = this.realm.options;
    const identifier = fields[username];
    return typeof identifier === 'string' ? keptAs(username, identifier) : '';
  }
}
