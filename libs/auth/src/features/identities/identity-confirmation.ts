import { Injectable } from '@nestjs/common';
import { Realm, errors, identity, locking, session } from '../../kit';
import { type BegunAttempt, type CallbackRequest, IdentityAttempts } from './attempts';
import { IdentityStore, type StoredIdentity } from './identity.store';
import { ProviderClients } from './protocol/provider-clients';
import { ProviderRefused } from './identities.errors';

declare module '../step-up/step-up.errors' {
  interface ConfirmationMethods {
    identity: true;
  }
}

/** Confirms the identity of the caller at a provider, which asks the person again, and issues a confirmation token. */
@Injectable()
export class IdentityConfirmation {
  constructor(
    private readonly attempts: IdentityAttempts,
    private readonly clients: ProviderClients,
    private readonly store: IdentityStore,
    private readonly factors: session.ConfirmationFactors,
    private readonly confirmations: session.Confirmations,
    private readonly sessions: session.Sessions,
    private readonly lockout: locking.AccountLockout,
    private readonly realm: Realm,
  ) {}

  /**
   * Begins a confirmation at a provider.
   *
   * @throws ConfirmationRequired with the methods of the caller where this one is not enough; ValidationFailed for a provider at
   * which the caller has no account
   */
  async begin(caller: identity.Caller, provider: string, redirectUri: string | null): Promise<BegunAttempt> {
    await this.requireMethod(caller);
    const usable = await this.usableBy(caller.userId);
    if (!usable.some((one) => one.provider === provider))
      throw new errors.ValidationFailed({ provider: [{ key: 'validation.invalid', params: { field: 'provider' } }] });
    return this.attempts.begin('confirm', provider, redirectUri, caller);
  }

  /**
   * Issues a confirmation token, if the person has just signed in at the provider with an account that is linked with that of the
   * caller.
   *
   * @throws ProviderRefused, ProviderUnavailable, ConfirmationRequired as {@link begin} does; Unauthenticated for a session that
   * has ended
   */
  async confirm(
    caller: identity.Caller,
    provider: string,
    answer: CallbackRequest,
    request: object,
  ): Promise<{ confirmation_token: string }> {
    const { userId } = caller;
    await this.requireMethod(caller);
    return this.attempts.redeem({ kind: 'confirm', provider, answer, request, owner: caller }, async ({ person }) => {
      const linked = await this.store.find(person);
      if (linked?.userId !== userId) throw new ProviderRefused();
      // The end of all sessions ends what they have begun, also while an access token is accepted until it expires.
      await this.sessions.requireAlive(caller);
      await this.lockout.release([locking.userLock('confirm', userId)]);
      return { confirmation_token: await this.confirmations.mint(caller) };
    });
  }

  /** The hook `confirmsWith`. */
  async methodsOf(userId: string): Promise<'identity'[]> {
    return (await this.usableBy(userId)).length ? ['identity'] : [];
  }

  /** The identities of providers of the guard that can ask the person again, and say when they have. */
  private async usableBy(userId: string): Promise<StoredIdentity[]> {
    return (await this.store.listOf(userId)).filter((one) => this.clients.canConfirm(one));
  }

  private async requireMethod(caller: identity.Caller): Promise<void> {
    const methods = await this.factors.methodsOf(caller);
    if (!methods.includes('identity')) throw new session.ConfirmationRequired(this.realm.options.confirm, methods);
  }
}
