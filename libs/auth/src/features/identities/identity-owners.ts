import { Injectable } from '@nestjs/common';
import { Realm, identity, session } from '../../kit';
import { IdentityStore, type ProviderSubject, type StoredIdentity } from './identity.store';

/** The account of a person at a provider, if the person has one. */
export interface IdentityOwner {
  readonly linked: StoredIdentity | null;
  /** Null also for an account that was deleted: its identities exist until they are pruned. */
  readonly account: { readonly user: object; readonly passwordHash: string | null } | null;
  /**
   * The user of an identity that is free, of whom nothing may be shown; null for none. Where registrations conceal accounts, an account
   * that was registered and never used does not keep the identity. Otherwise the next use of it would show whether the registration
   * created the account.
   */
  readonly former: string | null;
}

/** Finds the accounts of persons at providers. */
@Injectable()
export class IdentityOwners {
  constructor(
    private readonly store: IdentityStore,
    private readonly users: identity.TimedUserProvider,
    private readonly unverified: session.UnverifiedBlock,
    private readonly realm: Realm,
  ) {}

  /** See {@link IdentityOwner.former}. */
  async formerOf(person: ProviderSubject): Promise<string | null> {
    return this.realm.options.facts.concealsAccounts ? (await this.find(person)).former : null;
  }

  /** Where registrations conceal accounts, a person without an identity needs the same queries as one with a free identity. */
  async find(person: ProviderSubject): Promise<IdentityOwner> {
    const linked = await this.store.find(person);
    const { concealsAccounts } = this.realm.options.facts;
    const account = linked || concealsAccounts ? await this.users.credentialsOf(linked?.userId ?? null) : null;
    const isFree = concealsAccounts && !(account && !this.unverified.isBlocked(account.user));
    return { linked, account, former: (isFree && linked?.userId) || null };
  }
}
