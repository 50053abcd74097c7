import { Injectable } from '@nestjs/common';
import { Clock, Realm, SecurityStore, crypto, identity, session } from '../../kit';
import { IdentityStore, personOf, providerSession } from './identity.store';
import { type SignedOut, ProviderClients } from './protocol/provider-clients';
import { BadLogoutToken } from './identities.errors';

/** Sessions that a logout ends: those of a user that an account at the provider has started, or one session of it there. */
type Ended = readonly [userId: string, origin: session.SessionOrigin];

/** Ends the sessions of users that their provider has signed out (OpenID Connect Back-Channel Logout 1.0). */
@Injectable()
export class ProviderLogouts {
  constructor(
    private readonly clients: ProviderClients,
    private readonly identities: IdentityStore,
    private readonly accounts: session.Accounts,
    private readonly store: SecurityStore,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /**
   * Ends the sessions that a logout token names, at every guard of the source, before it resolves. A person without an account is
   * no error. After a `StoreUnavailable`, the provider sends the same token again.
   *
   * @throws BadLogoutToken, ProviderUnavailable, StoreUnavailable
   */
  async end(provider: string, token: string): Promise<void> {
    if (!this.clients.find(provider)) throw new BadLogoutToken();
    const signedOut = await this.clients.verifyLogout(provider, token);
    const used = `svc:idp-jti:${this.realm.guard}:${crypto.sha256(JSON.stringify([signedOut.issuer, signedOut.jti]))}`;
    const [isUsed] = await this.store.getMany([used]);
    if (isUsed != null) throw new BadLogoutToken();
    for (const [userId, origin] of await this.endedBy(signedOut)) await this.endOf(userId, origin);
    // Last: a token whose sessions have not ended can be sent again.
    const seconds = signedOut.expiresAt - this.clock.seconds() + this.realm.options.leeway + identity.CLOCK_MARGIN;
    await this.store.add(used, 'true', Math.max(1, seconds));
  }

  private async endedBy({ issuer, subject, sid }: SignedOut): Promise<Ended[]> {
    const of = sid === null ? undefined : providerSession(issuer, sid);
    const person = subject === null ? undefined : personOf({ issuer, subject });
    // Before the sessions are read: a session that is stored from now on finds the mark. Also of a person who has no account yet.
    if (person) await this.mark(of ? unknownSession(person) : person);
    if (of) await this.mark(of);
    const found = subject === null ? null : await this.identities.find({ issuer, subject });
    const ofPerson: Ended[] = found ? [[found.userId, { id: found.id, session: of }]] : [];
    // Also those of an identity that was removed meanwhile.
    const stores = of ? this.accounts.services(session.SessionStore) : [];
    const live = (await Promise.all(stores.map((store) => store.ofOriginSession(of!)))).flat();
    return [...ofPerson, ...live.map(({ userId, origin: id }): Ended => [userId, { id, session: of }])];
  }

  private async endOf(userId: string, origin: session.SessionOrigin): Promise<void> {
    // A sign-in that waits for a second factor would start a session afterwards.
    for (const tokens of this.accounts.services(identity.PurposeTokens)) await tokens.endChallenges(userId);
    for (const sessions of this.accounts.services(session.Sessions))
      await sessions.endOfOrigin({ userId, familyId: null }, origin, 'provider_logout');
  }

  /**
   * Whether no logout came since the sign-in began. Asked after its session was stored: a logout ends it, or this check sees the
   * logout. A sign-in that began after a logout is not concerned.
   *
   * @throws StoreUnavailable
   */
  async isLive({ person, session: of, since }: session.SignInOrigin): Promise<boolean> {
    const marked = await this.store.getMany([person, of ?? unknownSession(person)].map((ended) => this.keyOf(ended)));
    return marked.every((at) => at === null || Number(at) < since);
  }

  private mark(ended: string): Promise<void> {
    const { twoFactor, identities, leeway } = this.realm.options;
    // As long as an attempt, the fields of an account and a second factor can last.
    const seconds = 120 * identities.attemptMinutes + Math.max(twoFactor.challengeTtl, twoFactor.enrolmentTtl);
    return this.store.setMany([this.keyOf(ended)], `${this.clock.now()}`, seconds + leeway + identity.CLOCK_MARGIN);
  }

  private keyOf(ended: string): string {
    return `svc:idp-end:${this.realm.source.key}:${ended}`;
  }
}

/** The mark of the sign-ins of a person whose session at the provider is not known. */
const unknownSession = (person: string): string => `${person}:unknown`;
