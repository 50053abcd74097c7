import { Injectable } from '@nestjs/common';
import { Realm, type RealmScope, deadline, input, pg, session } from '../../kit';
import { type Answered, type CallbackRequest, IdentityAttempts } from './attempts';
import { type IdentityOwner, IdentityOwners, IdentityStore, type StoredIdentity, originOf } from './identity.store';
import { IdentityRegistration, type RegistrationRequired } from './identity-registration';
import { ProviderClients } from './protocol/provider-clients';
import { provesTwoFactors } from './protocol/provider-identity.policy';
import { ProviderRefused } from './identities.errors';
import { ProviderLogouts } from './provider-logout';

/** The answer to what a provider says: that of a login or of a registration, or the fields that a new account needs. */
export type CallbackAnswer = session.RegistrationAnswer | RegistrationRequired;

/** Signs a user in with an identity (`POST /identities/:provider/callback`), or leads to a new account. */
@Injectable()
export class IdentitySignIn {
  constructor(
    private readonly attempts: IdentityAttempts,
    private readonly clients: ProviderClients,
    private readonly owners: IdentityOwners,
    private readonly store: IdentityStore,
    private readonly registration: IdentityRegistration,
    private readonly signIn: session.SignIn,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws NoSuchProvider, ProviderRefused, ProviderUnavailable, UnverifiedLogin, SignInRefused, IdentityNotLinked, StoreUnavailable;
   * ValidationFailed before the attempt is used
   */
  async callback(provider: string, answer: CallbackRequest, request: object): Promise<CallbackAnswer> {
    const remember = input.rememberIn(request, this.realm.options);
    return this.attempts.redeem({ kind: 'sign-in', provider, answer, request }, (answered) =>
      this.enter(answered, { request, remember }, (owner) => this.registration.begin(answered, owner, request)),
    );
  }

  /** @throws the errors of {@link IdentityRegistration.complete}, UnverifiedLogin, SignInRefused */
  async register(request: object): Promise<session.RegistrationAnswer> {
    return this.registration.complete(request, (answered, create) => {
      const remember = input.rememberIn(request, this.realm.options);
      return this.enter(answered, { request, remember }, create);
    });
  }

  /**
   * Signs the owner of an identity in, or creates an account. Of several requests for a new person at the same time, one creates
   * the account, and the others find its identity then.
   */
  private async enter<T>(
    answered: Answered,
    how: Pick<session.SignInEnding, 'request' | 'remember'>,
    create: (owner: IdentityOwner) => Promise<T>,
  ): Promise<T | session.LoginAnswer> {
    const { person } = answered;
    const owner = await this.owners.find(person);
    if (owner.linked && owner.former === null) return this.begin(owner.linked, owner.account, answered, how);
    return create(owner).catch(async (error: unknown) => {
      const stored = deadline.isInconclusive(error) ? null : await this.store.find(person);
      if (!stored || stored.id === owner.linked?.id) throw error;
      return this.enter(answered, how, create);
    });
  }

  private async begin(
    { id, userId, email }: StoredIdentity,
    account: IdentityOwner['account'],
    answered: Answered,
    how: Pick<session.SignInEnding, 'request' | 'remember'>,
  ): Promise<session.LoginAnswer> {
    const { provider, person } = answered;
    if (!account) throw new ProviderRefused().withReason('unknown_user', userId);
    const first = { user: account.user, userId, digest: account.passwordHash };
    const hasTwoFactors = provesTwoFactors(person, this.clients.find(provider)!);
    const signIn = hasTwoFactors ? await this.signIn.admitTwoFactors(first) : await this.signIn.admit(first);
    const methods = hasTwoFactors ? ['fed', 'mfa'] : ['fed'];
    const [answer] = await Promise.all([
      this.signIn.complete(signIn, { methods, origin: originOf(id, answered), ...how }),
      person.email !== null && person.email !== email && this.store.restate(id, person.email),
    ]);
    if (!answer) throw new ProviderRefused();
    return answer;
  }
}

/** The hook `originCurrent`: whether an identity is still linked, and its provider has not signed it out. Records the sign-in. */
export async function isLinked(services: RealmScope, origin: session.SignInOrigin): Promise<boolean> {
  // The session of another feature.
  if (!pg.isUuid(origin.id)) return true;
  const checked = [services.get(IdentityStore).touch(origin.id), services.get(ProviderLogouts).isLive(origin)];
  return !(await Promise.all(checked)).includes(false);
}
