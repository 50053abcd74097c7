import { Injectable } from '@nestjs/common';
import { isInconclusive } from '../../foundation/platform/deadline';
import { AuthEvents } from '../../foundation/platform/auth-events';
import type { GuardServices } from '../../foundation/realm/feature-data';
import type { Schema } from '../../foundation/platform/schema';
import { Realm, RealmScope } from '../../foundation/realm/realm';
import { rememberIn } from '../../request/http/request-body';
import { ExistingAccountMails } from '../mail/account-mails';
import type { LoginAnswer } from '../login/login';
import { SignIn, UnverifiedBlock } from '../sessions/sign-in';
import {
  type AccountCredential,
  type AccountFields,
  AccountOpening,
  type RegistrationAnswer,
  type RegistrationReceived,
} from '../login/account-opening';
import { type CreatedAccount, NewAccounts } from './new-accounts';
import { RegistrationForm } from './registration-form';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** Runs after an account was created, before its user is signed in. */
    readonly accountCreated?: (services: GuardServices, user: object) => void;
  }
}

/** Signs a new user in, with the same result as a login with the new password or the new credential. */
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
   * @param credential that of an account without a password
   */
  async logIn(
    account: CreatedAccount,
    request: object,
    remember: boolean,
    credential?: AccountCredential,
  ): Promise<RegistrationAnswer> {
    const requires_verification = this.unverified.isBlocked(account.user);
    const withoutSession = { registered: true, requires_verification } as const;
    if (!this.realm.options.registration.login) return withoutSession;
    try {
      return (await this.begin(account, request, remember, credential)) ?? withoutSession;
    } catch (error) {
      // The account is stored: a repeated request would find its identifier taken, but a login is possible. The email may have to
      // be verified first, and a host may let new accounts wait for an approval.
      if (isInconclusive(error)) return withoutSession;
      throw error;
    }
  }

  /** Null if the user was deleted, or got another password or lost the credential in the meantime. */
  private async begin(
    { user, digest: created }: CreatedAccount,
    request: object,
    remember: boolean,
    credential?: AccountCredential,
  ): Promise<LoginAnswer | null> {
    const userId = this.users.idOf(user);
    const digest = created === undefined ? await this.users.passwordHashOf(userId) : created;
    const signIn = credential
      ? await this.signIn.admitTwoFactors({ user, userId })
      : await this.signIn.admit({ user, userId, digest });
    const ending = {
      methods: [credential?.method ?? 'pwd'],
      request,
      remember,
      credentialId: credential?.credentialId,
    };
    return this.signIn.complete(
      signIn,
      ending,
      async (stored) => stored === digest && (credential === undefined || credential.isStored()),
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

/** Creates an account from a form and signs the user in (`POST /register`). */
@Injectable()
export class Registration extends AccountOpening {
  constructor(
    private readonly form: RegistrationForm,
    private readonly accounts: NewAccounts,
    private readonly existingAccountMails: ExistingAccountMails,
    private readonly events: AuthEvents,
    private readonly users: TimedUserProvider,
    private readonly firstLogin: FirstLogin,
    private readonly scope: RealmScope,
  ) {
    super();
  }

  /** @throws ValidationFailed; IdentifierTaken without `registration.concealExisting` */
  async register(request: object): Promise<RegistrationAnswer> {
    return this.open(await this.form.read(request), request);
  }

  read(request: object): Promise<AccountFields> {
    return this.form.read(request, false);
  }

  bodyWith(proof: Schema | null): Schema {
    return this.form.bodyWith(proof);
  }

  /** As {@link AccountOpening.open}, also without a credential. */
  async open(
    fields: AccountFields,
    request: object,
    verify?: () => Promise<AccountCredential>,
  ): Promise<RegistrationAnswer> {
    const { concealExisting } = this.scope.realm.options.registration;
    // Before the account exists and a proof is used, so that the client can repeat a refused request.
    const remember = concealExisting || rememberIn(request, this.scope.realm.options);
    const credential = await verify?.();
    if (concealExisting) return this.receive(fields, credential);
    const account = await this.accounts.create(fields, credential);
    this.welcome(account.user, credential);
    return this.firstLogin.logIn(account, request, remember, credential);
  }

  /** The answer does not depend on what happened: the owner of the address gets a mail. */
  private async receive(fields: AccountFields, credential?: AccountCredential): Promise<RegistrationReceived> {
    const { created, owner } = await this.accounts.createOrFind(fields, credential);
    if (created) this.welcome(created, credential);
    if (owner) this.existingAccountMails.send(owner);
    return { status: 'registration-received' };
  }

  private welcome(user: object, credential?: AccountCredential): void {
    this.events.emit(new Registered(user));
    credential?.announce(this.users.idOf(user));
    for (const created of this.scope.hooks('accountCreated')) created(this.scope, user);
  }
}
