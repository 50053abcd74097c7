import { Injectable, Logger } from '@nestjs/common';
import {
  Realm,
  RealmScope,
  type data,
  deadline,
  errors,
  event,
  identity,
  input,
  mailing,
  type schema,
  session,
} from '../../kit';
import { type CreatedAccount, NewAccounts } from './new-accounts';
import { RegistrationForm } from './registration-form';

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** Runs after an account was created, before its user is signed in. */
    readonly accountCreated?: (services: data.GuardServices, user: object) => void;
  }
}

/**
 * Does what follows a stored account; null after an error. The error must not be the answer: the account exists, so a repeated request
 * would find its identifier taken, and a login is possible. An error that is no want of an answer undoes a transaction of the host.
 *
 * @param what completes "… failed" in the log
 */
async function afterCreation<T>(what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (deadline.isInconclusive(error)) return null;
    if (deadline.outerTransaction()) throw error;
    // A refusal is logged where it is made.
    if (!(error instanceof errors.AuthException))
      new Logger('Auth').error(`${what} of a new account failed`, (error as Error)?.stack);
    return null;
  }
}

/** Signs a new user in, with the same result as a login with the new password or the new credential. */
@Injectable()
export class FirstLogin {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly unverified: session.UnverifiedBlock,
    private readonly signIn: session.SignIn,
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
    credential?: session.AccountCredential,
  ): Promise<session.RegistrationAnswer> {
    const requires_verification = this.unverified.isBlocked(account.user);
    const withoutSession = { registered: true, requires_verification } as const;
    if (!this.realm.options.registration.login) return withoutSession;
    return (
      (await afterCreation('The first sign-in', () => this.begin(account, request, remember, credential))) ??
      withoutSession
    );
  }

  /** Null if the user was deleted, or got another password or lost the credential in the meantime. */
  private async begin(
    { user, digest: created }: CreatedAccount,
    request: object,
    remember: boolean,
    credential?: session.AccountCredential,
  ): Promise<session.LoginAnswer | null> {
    const userId = this.users.idOf(user);
    const digest = created === undefined ? await this.users.passwordHashOf(userId) : created;
    const signIn = credential?.hasTwoFactors
      ? await this.signIn.admitTwoFactors({ user, userId })
      : await this.signIn.admit({ user, userId, digest });
    const ending = { methods: ['pwd'], ...credential?.signIn, request, remember };
    const isStored = credential ? credential.isStored?.bind(credential) : async () => true;
    return this.signIn.complete(
      signIn,
      ending,
      isStored && (async (stored) => stored === digest && (await isStored())),
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
export class Registration extends session.AccountOpening {
  constructor(
    private readonly form: RegistrationForm,
    private readonly accounts: NewAccounts,
    private readonly existingAccountMails: mailing.ExistingAccountMails,
    private readonly events: event.AuthEvents,
    private readonly users: identity.TimedUserProvider,
    private readonly provedEmails: identity.ProvedEmails,
    private readonly firstLogin: FirstLogin,
    private readonly scope: RealmScope,
  ) {
    super();
  }

  /** @throws ValidationFailed; IdentifierTaken without `registration.concealExisting` */
  async register(request: object): Promise<session.RegistrationAnswer> {
    return this.open(await this.form.read(request), request);
  }

  read(request: object): Promise<session.AccountFields> {
    return this.form.read(request, false);
  }

  bodyWith(proof: schema.Schema | null): schema.Schema {
    return this.form.bodyWith(proof);
  }

  /** As {@link AccountOpening.open}, also without a credential. */
  async open(
    fields: session.AccountFields,
    request: object,
    verify?: () => Promise<session.AccountCredential>,
  ): Promise<session.RegistrationAnswer> {
    const { concealExisting } = this.scope.realm.options.registration;
    // Before the account exists and a proof is used, so that the client can repeat a refused request.
    const remember = (concealExisting && !verify) || input.rememberIn(request, this.scope.realm.options);
    const credential = await verify?.();
    const proved = credential?.proves ?? null;
    if (concealExisting && proved === null) return this.receive(fields, credential);
    const created = await this.accounts.create(fields, credential);
    const account = proved === null ? created : await this.withProved(created, proved);
    await this.welcome(account.user, credential);
    return this.firstLogin.logIn(account, request, remember, credential);
  }

  /** The account, with its address as verified if it is the proved one. */
  private async withProved(account: CreatedAccount, proved: string): Promise<CreatedAccount> {
    const email = this.users.emailOf(account.user);
    if (email === null || identity.canonicalEmail(email) !== identity.canonicalEmail(proved)) return account;
    const isOurs = account.digest !== undefined;
    if (isOurs && this.provedEmails.recordCreation(account.user)) return account;
    // Without a record, the owner of the address gets a mail.
    const user = await afterCreation('The record of a proved address', async () => {
      await this.provedEmails.recordPerson(account.user, email);
      return this.users.findById(this.users.idOf(account.user));
    });
    return { ...account, user: user ?? account.user };
  }

  /** The answer does not depend on what happened: the owner of the address gets a mail. */
  private async receive(
    fields: session.AccountFields,
    credential?: session.AccountCredential,
  ): Promise<session.RegistrationReceived> {
    const { created, owner } = await this.accounts.createOrFind(fields, credential);
    if (created) await this.welcome(created, credential);
    if (owner) await deadline.afterCommit('a mail', () => this.existingAccountMails.send(owner));
    return { status: 'registration-received' };
  }

  private welcome(user: object, credential?: session.AccountCredential): Promise<void> {
    return deadline.afterCommit('the events of a registration', () => {
      this.events.emit(new Registered(user));
      credential?.announce(this.users.idOf(user));
      for (const created of this.scope.hooks('accountCreated')) created(this.scope, user);
    });
  }
}
