import { Injectable } from '@nestjs/common';
import { Realm, type RealmScope, identity, input, session } from '../../kit';
import { type Answered, type CallbackRequest, IdentityAttempts } from './attempts';
import { IdentityRegistration, type RegistrationRequired } from './identity-registration';
import { IdentityStore, originOf } from './identity.store';
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
    private readonly store: IdentityStore,
    private readonly registration: IdentityRegistration,
    private readonly users: identity.TimedUserProvider,
    private readonly unverified: session.UnverifiedBlock,
    private readonly signIn: session.SignIn,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws NoSuchProvider, ProviderRefused, ProviderUnavailable, UnverifiedLogin, SignInRefused, IdentityNotLinked, StoreUnavailable;
   * ValidationFailed before the attempt is used
   */
  async callback(provider: string, answer: CallbackRequest, request: object): Promise<CallbackAnswer> {
    const remember = input.rememberIn(request, this.realm.options);
    const answered = await this.attempts.redeem('sign-in', provider, answer, request);
    const linked = await this.store.find(answered.person);
    if (!linked) return this.registration.begin(answered, null, request);
    const { id, userId } = linked;
    const { email } = answered.person;
    const [user, digest] = await Promise.all([
      this.users.findById(userId),
      this.users.passwordHashOf(userId),
      email !== null && email !== linked.email && this.store.restate(id, email),
    ]);
    // The identities of a deleted user exist until they are pruned.
    if (!user) throw new ProviderRefused().withReason('unknown_user', userId);
    // Otherwise a sign-in with the identity of a registration would show whether the registration created the account.
    if (this.unverified.isConcealed(user)) return this.registration.begin(answered, userId, request);
    return this.begin({ user, userId, digest }, answered, { origin: originOf(id, answered), request, remember });
  }

  private async begin(
    first: session.FirstFactor,
    { provider, person }: Answered,
    how: Omit<session.SignInEnding, 'methods'>,
  ): Promise<session.LoginAnswer> {
    const hasTwoFactors = provesTwoFactors(person, this.clients.find(provider)!);
    const signIn = hasTwoFactors ? await this.signIn.admitTwoFactors(first) : await this.signIn.admit(first);
    const methods = hasTwoFactors ? ['fed', 'mfa'] : ['fed'];
    const answer = await this.signIn.complete(signIn, { methods, ...how });
    if (!answer) throw new ProviderRefused();
    return answer;
  }
}

/** The hook `originCurrent`: whether an identity is still linked, and its provider has not signed it out. Records the sign-in. */
export async function isLinked(services: RealmScope, origin: session.SignInOrigin): Promise<boolean> {
  const checked = [services.get(IdentityStore).touch(origin.id), services.get(ProviderLogouts).isLive(origin)];
  return !(await Promise.all(checked)).includes(false);
}
