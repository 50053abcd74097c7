import { Injectable } from '@nestjs/common';
import { isInconclusive } from '../../foundation/platform/deadline';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Realm } from '../../foundation/realm/realm';
import { rememberIn } from '../../request/http/request-body';
import type { RegisteredBody } from '../../foundation/ports/presenter';
import { ExistingAccountMails } from '../mail/account-mails';
import { VerificationMails } from '../email-verification/verification-mails';
import type { LoginAnswer } from '../login/login';
import { SignIn, UnverifiedBlock } from '../sessions/sign-in';
import { PasskeyAdded } from '../passkeys/passkeys.events';
import { type AccountPasskey, type CreatedAccount, NewAccounts } from './new-accounts';
import { type RegistrationFields, RegistrationForm } from './registration-form';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Signs a new user in, with the same result as a login with the new password or the new passkey. */
@Injectable()
export class FirstLogin {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly unverified: UnverifiedBlock,
    private readonly signIn: SignIn,
    private readonly realm: Realm,
  ) {}

  /**
   * @param remember as in `SessionStart`
   * @param passkey the passkey of an account without a password
   */
  async logIn(
    account: CreatedAccount,
    request: object,
    remember: boolean,
    passkey?: AccountPasskey,
  ): Promise<RegistrationAnswer> {
    const requires_verification = this.unverified.isBlocked(account.user);
    const withoutSession = { registered: true, requires_verification } as const;
    if (!this.realm.options.registration.login) return withoutSession;
    try {
      return (await this.begin(account, request, remember, passkey)) ?? withoutSession;
    } catch (error) {
      // The account is stored: a repeated request would find its identifier taken, but a login is possible. The email may have to
      // be verified first, and a host may let new accounts wait for an approval.
      if (isInconclusive(error)) return withoutSession;
      throw error;
    }
  }

  /** Null if the user was deleted, or got another password or lost the passkey in the meantime. */
  private async begin(
    { user, digest: created }: CreatedAccount,
    request: object,
    remember: boolean,
    passkey?: AccountPasskey,
  ): Promise<LoginAnswer | null> {
    const userId = this.users.idOf(user);
    const digest = created === undefined ? await this.users.passwordHashOf(userId) : created;
    const signIn = passkey
      ? await this.signIn.admitTwoFactors({ user, userId })
      : await this.signIn.admit({ user, userId, digest });
    const ending = { methods: [passkey ? 'webauthn' : 'pwd'], request, remember, passkeyId: passkey?.credentialId };
    return this.signIn.complete(
      signIn,
      ending,
      async (stored) => stored === digest && (passkey === undefined || passkey.isStored()),
    );
  }
}

/**
 * A user registered.
 *
 * @publicApi
 */
export class Registered {
  constructor(readonly user: object) {}
}

/** The answer to every registration with `registration.concealExisting`. */
export interface RegistrationReceived {
  readonly status: 'registration-received';
}

export type RegistrationAnswer = LoginAnswer | RegisteredBody | RegistrationReceived;

/** Creates an account from a form and signs the user in (`POST /register`). */
@Injectable()
export class Registration {
  constructor(
    private readonly form: RegistrationForm,
    private readonly accounts: NewAccounts,
    private readonly verificationMails: VerificationMails,
    private readonly existingAccountMails: ExistingAccountMails,
    private readonly events: AuthEvents,
    private readonly users: TimedUserProvider,
    private readonly firstLogin: FirstLogin,
    private readonly realm: Realm,
  ) {}

  /** @throws ValidationFailed; IdentifierTaken without `registration.concealExisting` */
  async register(request: object): Promise<RegistrationAnswer> {
    return this.open(await this.form.read(request), request);
  }

  /**
   * Creates an account from valid fields and signs the user in.
   *
   * @param verify verifies the passkey that takes the place of a password; its ceremony cannot be used again
   * @throws ValidationFailed, PasskeyRefused; IdentifierTaken without `registration.concealExisting`
   */
  async open(
    fields: RegistrationFields,
    request: object,
    verify?: () => Promise<AccountPasskey>,
  ): Promise<RegistrationAnswer> {
    const { concealExisting } = this.realm.options.registration;
    // Before the account exists and a ceremony is used, so that the client can repeat a refused request.
    const remember = concealExisting || rememberIn(request, this.realm.options);
    const passkey = await verify?.();
    if (concealExisting) return this.receive(fields, passkey);
    const account = await this.accounts.create(fields, passkey);
    this.welcome(account.user, passkey);
    return this.firstLogin.logIn(account, request, remember, passkey);
  }

  /** The answer does not depend on what happened: the owner of the address gets a mail. */
  private async receive(fields: RegistrationFields, passkey?: AccountPasskey): Promise<RegistrationReceived> {
    const { created, owner } = await this.accounts.createOrFind(fields, passkey);
    if (created) this.welcome(created, passkey);
    if (owner) this.existingAccountMails.send(owner);
    return { status: 'registration-received' };
  }

  private welcome(user: object, passkey?: AccountPasskey): void {
    this.events.emit(new Registered(user));
    if (passkey) this.events.emit(new PasskeyAdded(this.users.idOf(user), passkey.credentialId, this.realm.guard));
    this.verificationMails.send(user);
  }
}
