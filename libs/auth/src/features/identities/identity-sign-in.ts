import { Injectable } from '@nestjs/common';
import { Realm, type RealmScope, input, pg, session } from '../../kit';
import { type Answered, type CallbackRequest, IdentityAttempts } from './attempts';
import { IdentityOwners, IdentityStore, type StoredIdentity, originOf } from './identity.store';
import { IdentityRegistration, type RegistrationRequired } from './identity-registration';
import { ProviderClients } from './protocol/provider-clients';
import { provesTwoFactors } from './protocol/provider-identity.policy';
import { ProviderRefused } from './protocol/provider.errors';
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
    return this.attempts.redeem({ kind: 'sign-in', provider, answer, request }, async (answered) => {
      const owner = await this.owners.find(answered.person);
      const { linked, account, former } = owner;
      if (!linked || former !== null) return this.registration.begin(answered, owner, request);
      const { userId } = linked;
      if (!account) throw new ProviderRefused().withReason('unknown_user', userId);
      const first = { user: account.user, userId, digest: account.passwordHash };
      return this.begin(first, linked, answered, { request, remember });
    });
  }

  private async begin(
    first: session.FirstFactor,
    linked: StoredIdentity,
    answered: Answered,
    how: Pick<session.SignInEnding, 'request' | 'remember'>,
  ): Promise<session.LoginAnswer> {
    const { provider, person } = answered;
    const hasTwoFactors = provesTwoFactors(person, this.clients.find(provider)!);
    const signIn = hasTwoFactors ? await this.signIn.admitTwoFactors(first) : await this.signIn.admit(first);
    const methods = hasTwoFactors ? ['fed', 'mfa'] : ['fed'];
    const { id } = linked;
    const [answer] = await Promise.all([
      this.signIn.complete(signIn, { methods, origin: originOf(id, answered), ...how }),
      person.email !== null && person.email !== linked.email && this.store.restate(id, person.email),
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
