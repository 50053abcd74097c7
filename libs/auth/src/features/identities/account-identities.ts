import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Realm, event, identity, pg, session } from '../../kit';
import { type CallbackRequest, IdentityAttempts } from './attempts';
import { IdentityNotFound, IdentityTaken, LastIdentity } from './identities.errors';
import { IdentityLinked, IdentityUnlinked } from './identities.events';
import {
  IdentityOwners,
  IdentityStore,
  type ListedIdentity,
  type StoredIdentity,
  identityWay,
  shownIdentity,
} from './identity.store';
import { ProviderClients } from './protocol/provider-clients';

/** Links accounts at providers with the account of a user, and removes them. */
@Injectable()
export class AccountIdentities {
  constructor(
    private readonly attempts: IdentityAttempts,
    private readonly clients: ProviderClients,
    private readonly store: IdentityStore,
    private readonly owners: IdentityOwners,
    private readonly ways: session.SignInWays,
    private readonly accounts: session.Accounts,
    private readonly sessions: session.Sessions,
    private readonly sessionStore: session.SessionStore,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  async list({ userId }: identity.Caller): Promise<{ identities: ListedIdentity[] }> {
    return { identities: (await this.store.listOf(userId)).map((one) => this.listed(one)) };
  }

  /**
   * Links the account that the person has proved at the provider. Linking it again has no effect.
   *
   * @throws ProviderRefused, ProviderUnavailable, IdentityTaken, SignInRefused; Unauthenticated when the session of the caller has
   * ended in the meantime
   */
  async link(
    caller: identity.Caller,
    provider: string,
    answer: CallbackRequest,
    request: object,
  ): Promise<ListedIdentity> {
    const { userId } = caller;
    return this.attempts.redeem({ kind: 'link', provider, answer, request, owner: caller }, async ({ person }) => {
      const { issuer, subject, email } = person;
      const former = await this.owners.formerOf(person);
      const { stored, isNew } = await this.accounts.exclusiveForSession(caller, async (sql) => {
        // Sent together, and executed in this order.
        const [, added, found] = await Promise.all([
          this.store.release(sql, person, former),
          this.store.add(sql, { id: randomUUID(), userId, provider, issuer, subject, email }),
          this.store.find(person, sql),
        ]);
        return { stored: found, isNew: added };
      });
      // Null if its owner has just removed it: the caller can try again.
      if (stored?.userId !== userId) throw new IdentityTaken();
      if (isNew) this.events.emit(new IdentityLinked(userId, stored.id, provider, this.realm.guard));
      return this.listed(stored);
    });
  }

  /**
   * Removes an identity of the user, and ends the sessions that it has started, except that of the caller.
   *
   * @throws LastIdentity, IdentityNotFound; Unauthenticated when the session of the caller has ended in the meantime
   */
  async unlink(caller: identity.Caller, id: string): Promise<void> {
    const { userId } = caller;
    if (!pg.isUuid(id)) throw new IdentityNotFound();
    const refusal = (): LastIdentity => new LastIdentity();
    const removed = await this.ways.remove(userId, identityWay(id.toLowerCase()), refusal, async (sql) => {
      await this.sessions.requireAlive(caller, sql);
      return this.store.remove(sql, userId, id);
    });
    await this.endOf(caller, id, removed);
    if (!removed) throw new IdentityNotFound();
  }

  /** The hook `removeCredential`. */
  async removeNamed({ userId, id }: session.NamedCredential): Promise<boolean> {
    if (!pg.isUuid(id)) return false;
    const removed = await this.accounts.exclusive(userId, (sql) => this.store.remove(sql, userId, id));
    await this.endOf({ userId, familyId: null }, id, removed);
    return removed !== null;
  }

  private async endOf(
    caller: Pick<identity.Caller, 'userId' | 'familyId'>,
    id: string,
    removed: StoredIdentity | null,
  ): Promise<void> {
    if (removed) this.emitUnlinked(removed);
    // Also if an earlier request has removed it, and could not end them.
    for (const tokens of this.accounts.services(identity.PurposeTokens)) await tokens.endChallenges(caller.userId);
    for (const sessions of this.accounts.services(session.Sessions))
      await sessions.endOfOrigin(caller, { id: id.toLowerCase() }, 'identity_removed');
  }

  /** The hook `takeover`: removes all identities of the user, or those linked since a time. Returns whether there were any. */
  async removeAll({ userId, since }: session.TakenAccount): Promise<boolean> {
    const removed = await this.accounts.exclusive(userId, (sql) => this.store.removeAllOf(sql, userId, since));
    for (const one of removed) this.emitUnlinked(one);
    return removed.length > 0;
  }

  /** The hook `signInWays`: an identity of a provider that the guard does not have is no way to sign in. */
  async waysOf(sql: pg.Sql, userId: string): Promise<string[]> {
    return (await this.store.listOf(userId, sql))
      .filter((one) => this.clients.issues(one))
      .map(({ id }) => identityWay(id));
  }

  /**
   * Ends the session of the caller. Returns the URL at which the browser signs out at the provider of the session; null without
   * one.
   */
  async endSession(caller: identity.Caller): Promise<{ end_session_url: string | null }> {
    const id = caller.familyId && (await this.sessionStore.originOf(caller.familyId));
    const used = id ? (await this.store.listOf(caller.userId)).find((one) => one.id === id) : undefined;
    const url = used && this.clients.find(used.provider) ? await this.clients.endSessionUrl(used.provider) : null;
    await this.sessions.logOut(caller);
    return { end_session_url: url };
  }

  private listed(one: StoredIdentity): ListedIdentity {
    return { id: one.id, ...shownIdentity(one), can_confirm: this.clients.canConfirm(one) };
  }

  private emitUnlinked({ userId, id, provider }: StoredIdentity): void {
    this.events.emit(new IdentityUnlinked(userId, id, provider, this.realm.guard));
  }
}
