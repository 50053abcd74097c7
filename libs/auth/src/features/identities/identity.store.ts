import { Injectable } from '@nestjs/common';
import { Clock, Realm, crypto, deadline, identity, pg, schema, session } from '../../kit';
import { Identity } from './identity.entity';

/** What an owner sees of an identity. Times are ISO 8601 in UTC. */
interface ShownIdentity {
  /** The name of the provider in the options. */
  readonly provider: string;
  /** The address that the provider stated last. */
  readonly email: string | null;
  readonly linked_at: string;
  /** Null if no sign-in has used it. */
  readonly last_used_at: string | null;
}

/** An identity in the list of its owner. */
export interface ListedIdentity extends ShownIdentity {
  readonly id: string;
  /** Whether its provider can confirm actions. */
  readonly can_confirm: boolean;
}

/** An identity in the export of an account. */
export interface ExportedIdentity extends ShownIdentity {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
}

/** The fields that its owner sees. */
export const SHOWN = {
  provider: schema.of(schema.TEXT, 'The name of the provider in the options.'),
  email: schema.of(schema.orNull(schema.TEXT), 'As the provider says. It is no address of the account.'),
  linked_at: schema.TIME,
  last_used_at: schema.of(schema.orNull(schema.TIME), 'The last sign-in with it.'),
};

export const EXPORTED = schema.record<ExportedIdentity>({
  id: schema.UUID,
  ...SHOWN,
  issuer: schema.TEXT,
  subject: schema.TEXT,
});

declare module '../../foundation/realm/feature-data' {
  interface ExportedData {
    /** The accounts at providers that are linked. */
    identities?: ExportedIdentity[];
  }
  interface Pruned {
    identities: number;
  }
}

/** What identifies a person at a provider. */
export type ProviderSubject = Pick<Identity, 'issuer' | 'subject'>;

type NewIdentity = ProviderSubject & Pick<Identity, 'id' | 'userId' | 'provider' | 'email'>;

/** A stored identity. */
export type StoredIdentity = Readonly<Omit<Identity, 'guard'>>;

const FIELDS = `id, user_id AS "userId", provider, issuer, subject, email, linked_at AS "linkedAt", last_used_at AS "lastUsedAt"`;

/**
 * Contains all queries of identities. A row is of the source of users, not of one guard: its column `guard` is the name of the
 * source when it was stored. Reads accept each name of the source, because a guard that is added can change which one that is.
 */
@Injectable()
export class IdentityStore {
  private readonly table = pg.once(() => this.database.table(Identity));

  constructor(
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly users: identity.UserProvider,
  ) {}

  /** The identity of a person at a provider, at any account of the source. */
  async find({ issuer, subject }: ProviderSubject, sql: pg.Sql = this.database.query): Promise<StoredIdentity | null> {
    const [found] = await sql<StoredIdentity>(
      `SELECT ${FIELDS} FROM ${this.table()} WHERE guard = ANY($1) AND issuer = $2 AND subject = $3
        ORDER BY linked_at, id LIMIT 1`,
      [this.guards, issuer, subject],
    );
    return found ?? null;
  }

  /**
   * Stores an identity in the caller's transaction. False if an account of the source has it. Of two transactions that store it
   * at the same time, the second one waits, and gets false after the commit of the first.
   */
  async add(sql: pg.Sql, { id, userId, ...added }: NewIdentity): Promise<boolean> {
    const { insert, values } = this.row(id, added);
    return (await sql(insert('$1', 2), [userId, ...values])).length > 0;
  }

  /** The statement of {@link add}. */
  row(id: string, { provider, issuer, subject, email }: Omit<NewIdentity, 'id' | 'userId'>): identity.RowBeside {
    const [guard, { offset }] = [this.realm.source.key, this.clock];
    return {
      values: [id, guard, provider, issuer, subject, email, offset, this.guards],
      insert: (userId, first) => {
        const p = (n: number): string => `$${first + n}`;
        return `INSERT INTO ${this.table()} (id, guard, user_id, provider, issuer, subject, email, linked_at)
         SELECT ${p(0)}::uuid, ${p(1)}, ${userId}, ${p(2)}, ${p(3)}, ${p(4)}, ${p(5)}, clock_timestamp() + ${p(6)}::interval
          WHERE NOT EXISTS
            (SELECT FROM ${this.table()} WHERE guard = ANY(${p(7)}) AND issuer = ${p(3)} AND subject = ${p(4)})
         ON CONFLICT (guard, issuer, subject) DO NOTHING RETURNING 1`;
      },
    };
  }

  /** The identities of a user, the oldest first. */
  listOf(userId: string, sql: pg.Sql = this.database.query): Promise<StoredIdentity[]> {
    return sql(`SELECT ${FIELDS} FROM ${this.table()} WHERE guard = ANY($1) AND user_id = $2 ORDER BY linked_at, id`, [
      this.guards,
      userId,
    ]);
  }

  /** Records a sign-in. False if the identity does not exist any more. Waits for a transaction that is removing it. */
  async touch(id: string): Promise<boolean> {
    const touched = await this.database.query(
      `UPDATE ${this.table()} SET last_used_at = clock_timestamp() + $3::interval
        WHERE id = $1 AND guard = ANY($2) RETURNING 1`,
      [id, this.guards, this.clock.offset],
    );
    return touched.length > 0;
  }

  /** Stores the address that the provider states now. */
  async restate(id: string, email: string): Promise<void> {
    await this.database.query(`UPDATE ${this.table()} SET email = $3 WHERE id = $1 AND guard = ANY($2)`, [
      id,
      this.guards,
      email,
    ]);
  }

  /** Deletes an identity of the user in the caller's transaction, and returns it; null without one. */
  async remove(sql: pg.Sql, userId: string, id: string): Promise<StoredIdentity | null> {
    const statement = `DELETE FROM ${this.table()} WHERE id = $1 AND guard = ANY($2) AND user_id = $3 RETURNING ${FIELDS}`;
    return (await sql<StoredIdentity>(statement, [id, this.guards, userId]))[0] ?? null;
  }

  /**
   * Deletes the identity of a person at an account, in the caller's transaction. Without an account it deletes nothing, with the same
   * statement. Only where registrations conceal accounts can an identity be free.
   */
  async release(sql: pg.Sql, { issuer, subject }: ProviderSubject, userId: string | null): Promise<void> {
    if (!this.realm.options.facts.concealsAccounts) return;
    const statement = `DELETE FROM ${this.table()} WHERE guard = ANY($1) AND issuer = $2 AND subject = $3 AND user_id = $4`;
    await sql(statement, [this.guards, issuer, subject, userId ?? '']);
  }

  /** Deletes all identities of a user, or those linked since a time, in the caller's transaction. Resolves to them. */
  removeAllOf(sql: pg.Sql, userId: string, since?: Date): Promise<StoredIdentity[]> {
    return sql(
      `DELETE FROM ${this.table()} WHERE guard = ANY($1) AND user_id = $2 ${since ? 'AND linked_at >= $3' : ''}
       RETURNING ${FIELDS}`,
      [this.guards, userId, ...(since ? [since] : [])],
    );
  }

  /** For the export of the account. None if the migration has not run. */
  async export(userId: string): Promise<ExportedIdentity[]> {
    const stored = await this.listOf(userId).catch(deadline.valueIf(pg.isMissing, []));
    return stored.map((row) => ({ id: row.id, ...shownIdentity(row), issuer: row.issuer, subject: row.subject }));
  }

  /**
   * Deletes the identities of users that do not exist any more, if `UserProvider.existingIds` can report it. Resolves to the
   * number of deleted rows; 0 when the table is missing.
   */
  prune(): Promise<number> {
    return pg.sweepOrphans(this.database, this.users, { table: this.table(), guards: this.guards });
  }

  private get guards(): readonly string[] {
    return this.realm.source.names;
  }
}

/** The name of an identity among the ways to sign in. */
export const identityWay = (id: string): string => `identity:${id}`;

/** What the library keeps of a session at a provider: see `Session.originSession`. */
export const providerSession = (issuer: string, sid: string): string => crypto.sha256(JSON.stringify([issuer, sid]));

/** The person at a provider, as a logout names it. */
export const personOf = ({ issuer, subject }: ProviderSubject): string =>
  crypto.sha256(JSON.stringify([issuer, subject]));

/** What a session keeps of the identity that has started it. */
export const originOf = (
  id: string,
  { person, beganAt }: { person: ProviderSubject & { sid: string | null }; beganAt: number },
): session.SignInOrigin => ({
  id,
  person: personOf(person),
  since: beganAt,
  ...(person.sid !== null && { session: providerSession(person.issuer, person.sid) }),
});

/** The fields of an identity that its owner sees. */
export const shownIdentity = ({ provider, email, linkedAt, lastUsedAt }: StoredIdentity): ShownIdentity => ({
  provider,
  email,
  linked_at: linkedAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
});

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
  /** What has the address that the provider states, where the address is the identifier of a new account. */
  readonly known?: session.AccountCredential['known'];
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
    return this.realm.options.facts.concealsAccounts ? (await this.find({ ...person, email: null })).former : null;
  }

  /** Where registrations conceal accounts, a person without an identity needs the same queries as one with a free identity. */
  async find(person: ProviderSubject & { readonly email: string | null }): Promise<IdentityOwner> {
    const { facts, username } = this.realm.options;
    const { concealsAccounts } = facts;
    const identifier = concealsAccounts || username !== 'email' || person.email === null ? null : person.email;
    const [linked, known] = await Promise.all([
      this.store.find(person),
      identifier === null ? null : this.at(identifier),
    ]);
    // The identity alone decides whose account it is. Mostly its user has this address, and is not read again.
    const here = known?.found.account;
    const isHere = here && linked && this.users.idOf(here.user) === linked.userId;
    const asked = !isHere && (linked || concealsAccounts);
    const account = isHere ? here : asked ? await this.users.credentialsOf(linked?.userId ?? null) : null;
    const isFree = concealsAccounts && !(account && !this.unverified.isBlocked(account.user));
    return { linked, account, former: (isFree && linked?.userId) || null, ...(known && { known }) };
  }

  /** Beside the look-up of the identity: a new account needs to know who has its identifier. */
  private async at(email: string): Promise<NonNullable<IdentityOwner['known']>> {
    const identifier = identity.canonicalEmail(email);
    return { identifier, found: await this.users.lookUp(identifier) };
  }
}
