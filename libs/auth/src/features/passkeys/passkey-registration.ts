import { Controller, Injectable, Req } from '@nestjs/common';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { Realm, type RealmScope, event, http, identity, type schema, session } from '../../kit';
import { Ceremonies } from './ceremonies';
import { EncryptedKeys, NO_USER, PasskeyStore } from './passkey.store';
import { AssertionRequest } from './passkey-login';
import type { NewCredential } from './passkey.entity';
import { PasskeyRefused } from './passkeys.errors';
import { PasskeyAdded, authenticatorKind } from './passkeys.events';
import { CREATION_OPTIONS, ceremonyWith, creationOptions } from './webauthn/options';
import { ALGORITHMS } from './webauthn/responses';
import { RegistrationVerifier } from './webauthn/verify-registration';

/** Registers accounts with a passkey and without a password (`POST /register/passkey`). */
@Injectable()
export class PasskeyRegistration {
  constructor(
    private readonly opening: session.AccountOpening,
    private readonly ceremonies: Ceremonies,
    private readonly verifier: RegistrationVerifier,
    private readonly keys: EncryptedKeys,
    private readonly store: PasskeyStore,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** Starts the ceremony of an account with these fields. Reads no account. @throws ValidationFailed */
  async options(request: object): Promise<{ ceremony_id: string; options: PublicKeyCredentialCreationOptionsJSON }> {
    const identifier = this.identifierIn(await this.opening.read(request));
    const { ceremonyId, challenge, userHandle } = await this.ceremonies.startAccount(identifier);
    const holder = { handle: userHandle, name: identifier, passkeys: [] };
    // Required whatever `userVerification` is: the passkey takes the place of the password.
    const options = { ...this.realm.options.passkeys, userVerification: 'required' as const };
    return { ceremony_id: ceremonyId, options: creationOptions(options, ALGORITHMS, holder, challenge) };
  }

  /** @throws ValidationFailed, without using the ceremony up; PasskeyRefused; and the errors of {@link AccountOpening.open} */
  async register(answer: AssertionRequest, request: object): Promise<session.RegistrationAnswer> {
    const fields = await this.opening.read(request);
    return this.opening.open(fields, request, () => this.verified(answer, this.identifierIn(fields)));
  }

  /** Verifies the passkey before any account is read, so that its refusal shows none. */
  private async verified(
    { ceremony_id: ceremonyId, credential }: AssertionRequest,
    identifier: string,
  ): Promise<session.AccountCredential> {
    const ceremony = await this.ceremonies.takeAccount(ceremonyId, identifier);
    const found = ceremony && (await this.verifier.verify(credential, ceremony.challenge, 'account'));
    if (!found) throw new PasskeyRefused('not_registered');
    return this.passkeyOf(found, ceremony.userHandle);
  }

  /** For a taken email that is concealed, the id is occupied: a later registration of it must not show that it is free. */
  private passkeyOf(found: NewCredential, userHandle: string): session.AccountCredential {
    const { credentialId } = found;
    const refusal = new PasskeyRefused('not_registered');
    const { guard, options } = this.realm;
    return {
      signIn: { methods: ['webauthn'], credentialId },
      hasTwoFactors: true,
      refusal,
      store: async (sql, owner) => {
        if (owner === null && !options.facts.concealsAccounts) return;
        const userId = owner ?? NO_USER;
        const publicKey = this.keys.encrypt({ credentialId, userId }, found.publicKey);
        const passkey = { ...found, userId, userHandle, name: null, publicKey };
        const isStored = await (owner === null ? this.store.occupy(sql, passkey) : this.store.add(sql, passkey));
        if (!isStored) throw refusal;
      },
      isStored: () => this.store.exists(credentialId),
      announce: (userId) =>
        this.events.emit(new PasskeyAdded(userId, credentialId, guard, authenticatorKind(found.transports))),
    };
  }

  /** The identifier as it is stored; empty where `hooks.registerRules` leaves it out. */
  private identifierIn(fields: session.AccountFields): string {
    const { username } = this.realm.options;
    const identifier = fields[username];
    return typeof identifier === 'string' ? identity.keptAs(username, identifier) : '';
  }
}

const body = (scope: RealmScope, answer: schema.Schema | null): schema.Schema =>
  scope.get(session.AccountOpening).bodyWith(answer);

@Controller('register/passkey')
export class PasskeyRegistrationController {
  constructor(private readonly registration: PasskeyRegistration) {}

  @http.Route('POST', 'options', 'register_passkey_options', {
    summary: 'Begins to create an account with a passkey',
    public: true,
    limiter: 'svc-passkeys',
    body,
    answer: ceremonyWith(CREATION_OPTIONS),
    quiet: true,
  })
  options(@Req() request: object): Promise<{ ceremony_id: string; options: object }> {
    return this.registration.options(request);
  }

  @http.Route('POST', '', 'register_passkey', {
    ...http.accountRoute(http.tokenPair, () => new PasskeyRefused('not_registered')),
    summary: 'Creates an account with a passkey',
    note: 'Answers as `POST /register`, and never with a challenge.',
    body,
  })
  register(@http.RequestBody() answer: AssertionRequest, @Req() request: object): Promise<session.RegistrationAnswer> {
    return this.registration.register(answer, request);
  }
}
