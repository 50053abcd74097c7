import { Injectable, type Type } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database, LOCK_UNTIL_COMMIT, type Sql } from '../../foundation/platform/database';
import type { HookPoints } from '../../foundation/realm/feature';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { Realm, type RealmScope, Realms } from '../../foundation/realm/realm';
import { AccountStandings } from '../../identity/tokens/access-tokens';
import type { Caller } from '../../identity/tokens/caller';
import { Sessions } from './sessions';
import type { SessionEndReason } from './sessions.events';

/** An account that its owner takes over from another person. */
export interface TakenAccount {
  readonly userId: string;
  /** Only what was added since this time is removed; without it, everything. */
  readonly since?: Date;
}

/** A credential of a user. */
export interface NamedCredential {
  readonly userId: string;
  /** Its id in the export of the account; empty for a kind of which a user has one. */
  readonly id: string;
}

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /**
     * Removes what another person may have added to the account, after its sessions have ended. Can be repeated.
     *
     * @returns whether something was removed that may have started a session until then: the sessions end once more, and the hook
     * runs again
     */
    readonly takeover?: (services: GuardServices, taken: TakenAccount) => Promise<boolean>;
    /**
     * Removes a credential of a user at the demand of an operator, without the conditions under which the user can: also the last one, and one
     * that is required. The kind is its part of the export of an account. Resolves to whether there was one.
     */
    readonly removeCredential?: {
      readonly kind: string;
      remove(services: GuardServices, credential: NamedCredential): Promise<boolean>;
    };
    /** What an operator sees of the credentials of a user beside their parts of the export of the account. No secret. */
    readonly credentialFacts?: (services: GuardServices, userId: string) => Promise<Readonly<Record<string, unknown>>>;
  }
}

/**
 * Works on accounts. An account is a source of users and an id: what is done to it is done at every guard of the source.
 * {@link Sessions} ends those of one guard, at the request of the user.
 */
@Injectable()
export class Accounts {
  constructor(
    private readonly standings: AccountStandings,
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly realms: Realms,
  ) {}

  /** Not injected: the sessions of a guard start with services that ask for facts of an account. */
  private get sessions(): Sessions {
    return this.realms.get(this.realm.guard).get(Sessions);
  }

  /** A service of each guard, in the order of the guards' names. Without the guards whose feature is off. */
  services<T>(token: Type<T> | (abstract new (...args: never[]) => T)): T[] {
    return servicesOf(this.scopes, token);
  }

  /** As {@link services}, without the guard of this realm. */
  others<T>(token: Type<T> | (abstract new (...args: never[]) => T)): T[] {
    return servicesOf(
      this.scopes.filter(({ realm }) => realm !== this.realm),
      token,
    );
  }

  private get scopes(): RealmScope[] {
    return this.realm.source.names.map((name) => this.realms.get(name));
  }

  /** What the features do at a point, each with the services of its guard. */
  hooks<Point extends keyof HookPoints>(point: Point): [NonNullable<HookPoints[Point]>, GuardServices][] {
    return this.scopes.flatMap((scope) =>
      scope.hooks(point).map((hook): [NonNullable<HookPoints[Point]>, GuardServices] => [hook, scope]),
    );
  }

  /**
   * Ends the sessions: after a change that ends the access of another person.
   *
   * @param moment only those that began before: see `Sessions.endEarlier`
   * @throws StoreUnavailable; the sessions that were ended before the error stay ended, so the call can be repeated
   */
  async endAll(userId: string, reason: SessionEndReason, moment?: number): Promise<void> {
    for (const sessions of this.services(Sessions))
      await (moment === undefined ? sessions.endAll(userId, reason) : sessions.endEarlier(userId, moment, reason));
  }

  /** Ends every session except one of this guard; see `Sessions.endOthers`. @throws StoreUnavailable as {@link endAll} does */
  async endOthers(
    userId: string,
    familyId: string | null,
    reason: SessionEndReason = 'others',
    moment?: number,
  ): Promise<void> {
    if (moment === undefined) return this.endExcept(userId, [familyId], reason);
    await this.sessions.endEarlier(userId, moment, reason, familyId);
    for (const sessions of this.others(Sessions)) await sessions.endEarlier(userId, moment, reason);
  }

  /** Ends every session except some; see `Sessions.endOthers`. @throws StoreUnavailable as {@link endAll} does */
  async endExcept(
    userId: string,
    familyIds: readonly (string | null)[],
    reason: SessionEndReason,
    moment?: number,
  ): Promise<void> {
    for (const sessions of this.services(Sessions)) await sessions.endOthers(userId, familyIds, reason, moment);
  }

  /**
   * Removes what another person may have added. Called after the sessions have ended. Can be repeated.
   *
   * A session may have added a factor until it ended, and a factor may have started a session until it was removed. So factors
   * are removed and sessions ended alternately until no factor is left that signs in.
   *
   * @param endSessions ends the sessions again; null if they stay
   */
  async takeOver(taken: TakenAccount, endSessions: (() => Promise<unknown>) | null): Promise<void> {
    for (;;) {
      let mayHaveSignedIn = false;
      for (const [hook, services] of this.hooks('takeover'))
        mayHaveSignedIn = (await hook(services, taken)) || mayHaveSignedIn;
      if (!mayHaveSignedIn || !endSessions) return;
      await endSessions();
    }
  }

  /** The kinds of credentials that {@link removeCredential} removes. */
  get removableKinds(): string[] {
    return [...new Set(this.hooks('removeCredential').map(([{ kind }]) => kind))];
  }

  /** Removes a credential at every guard. Resolves to whether there was one. */
  async removeCredential(kind: string, credential: NamedCredential): Promise<boolean> {
    let isRemoved = false;
    for (const [removal, services] of this.hooks('removeCredential'))
      isRemoved = (removal.kind === kind && (await removal.remove(services, credential))) || isRemoved;
    return isRemoved;
  }

  /**
   * Adds a login method from a session: runs `add` in a transaction under the {@link exclusive lock of the account} if the session
   * has not ended. So an ended session cannot add one.
   *
   * @param add has no effect but in the transaction: it runs before it is known that the session has not ended
   * @throws Unauthenticated when the session has ended; SignInRefused: an access token can outlive a suspension
   */
  async exclusiveForSession<T>(caller: Pick<Caller, 'userId' | 'familyId'>, add: (sql: Sql) => Promise<T>): Promise<T> {
    // Before the lock, because the hook is code of the host.
    await this.standings.refuse(caller.userId);
    return this.database.transaction(async (sql) => {
      const locked = this.lock(sql, caller.userId);
      // A separate statement, which sees what was committed while the lock was awaited. It also locks the session: its end
      // waits for this transaction, so the removal that follows the end finds what is added here.
      const alive = this.sessions.requireAlive(caller, sql);
      // Sent together, and executed in this order. The rollback follows the last statement: after it, one would be committed alone.
      const sent = [locked, alive, add(sql)] as const;
      await Promise.allSettled(sent);
      return (await Promise.all(sent))[2];
    });
  }

  /**
   * Runs `work` in a transaction that excludes other work under this lock on the same account: adding a login method, their
   * removal, and changes of the email.
   *
   * @param once see `Database.transaction`
   */
  exclusive<T>(userId: string, work: (sql: Sql, manager: EntityManager) => Promise<T>, once = false): Promise<T> {
    return this.database.transaction(async (sql, manager) => {
      await this.lock(sql, userId);
      return work(sql, manager);
    }, once);
  }

  /** Takes the lock, and holds it until the transaction ends. */
  async lock(sql: Sql, userId: string): Promise<void> {
    await sql(LOCK_UNTIL_COMMIT, [`svc:turns:${this.realm.source.key}:${userId}`]);
  }
}

const servicesOf = <T>(scopes: readonly RealmScope[], token: Type<T> | (abstract new (...args: never[]) => T)): T[] =>
  scopes.filter((scope) => scope.has(token)).map((scope) => scope.get(token));
