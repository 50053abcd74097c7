import { Inject, Injectable, type Type } from '@nestjs/common';
import type { JsonWebKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { AccountMails, type MailPreview } from './features/mail/account-mails';
import { AUTH_CONFIG, type AuthConfig, refuseVerifyOnly } from './foundation/config/auth-config';
import { BackgroundWork, asPart, isUnavailable, outerTransaction } from './foundation/platform/deadline';
import { HostTransaction, refuseWithin } from './foundation/platform/host-transaction';
import { Database } from './foundation/platform/database';
import type { Language } from './foundation/platform/language';
import type { TokenBody } from './foundation/ports/presenter';
import { Authenticator } from './identity/tokens/authenticator';
import { Keyring } from './identity/tokens/keyring';
import { type Caller, type TokenSource, grantIn, tokenIn } from './identity/tokens/caller';
import { refusalOf, untold } from './request/gates/transport-errors';
import { RefreshTokenPipe } from './request/http/cookies';
import { type Capabilities, Flow } from './request/http/server-call';
import { TokenDelivery } from './request/http/route-answer';
import { type UserResource, UserResources } from './request/abilities/user-resource';
import type { SessionTokens } from './request/http/route-answer';
import { type PublicGuardConfig, publicConfig } from './foundation/config/public-config';
import { FEATURES } from './features';
import type { Feature } from './foundation/realm/feature';
import { OPTIONS } from './library-options';
import { AuthConfigError, Unauthenticated } from './foundation/platform/errors';
import { idText } from './identity/users/identifiers';
import { type RealmScope, Realms } from './foundation/realm/realm';
import type { SessionStart } from './features/sessions/new-sessions';
import { SessionStore } from './features/sessions/session.store';
import { Sessions } from './features/sessions/sessions';
import { Accounts } from './features/sessions/accounts';
import { SignIn } from './features/sessions/sign-in';

type CapabilityName = keyof Capabilities;

const capabilitiesOf = ({ capabilities = {} }: Feature) => Object.keys(capabilities) as CapabilityName[];

const isFlow = (type: Type): type is Type<Flow> => type.prototype instanceof Flow;

/** The capabilities that a host can also inject, of the features whose members are loaded. */
export const loadedFlows = (): Type<Flow>[] =>
  FEATURES.filter(({ load }) => !load).flatMap((feature) =>
    capabilitiesOf(feature)
      .flatMap((name) => feature.capabilities![name] as Type)
      .filter(isFlow),
  );

/** Longest wait of {@link Auth.settled} in milliseconds. The library gives up its own work after half a minute; a mail, after one. */
const SETTLED_MS = 60_000;

/** Options of {@link Auth.startSession}; see {@link SessionStart}. */
export type StartOptions = Omit<SessionStart, 'userId' | 'abilities'> & {
  /** Not an option: abilities are the third argument of {@link Auth.startSession}. */
  abilities?: never;
};

/**
 * The library for server code: starts and ends sessions, makes the server calls of the routes, and reports what the token
 * of a request may do.
 *
 * @example constructor(private readonly auth: Auth) {}
 * // after the host's own login
 * const tokens = await this.auth.startSession(user.id, { amr: ['sms'] });
 * // a sign-in with the limits, the lockout and the events of POST /login
 * const result = await this.auth.login.attempt({ identifier, password }, request);
 * @publicApi
 */
@Injectable()
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the static block defines all members of the interface
export class Auth {
  static {
    for (const feature of FEATURES)
      for (const name of capabilitiesOf(feature))
        Object.defineProperty(this.prototype, name, {
          configurable: true,
          get(this: Auth): object {
            return this.capability(feature.capabilities![name] as Type<object>, feature);
          },
        });
  }

  private name?: string;

  constructor(
    private readonly realms: Realms,
    private readonly background: BackgroundWork,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
    private readonly database: Database,
  ) {}

  /** Returns an `Auth` for another guard. @throws AuthConfigError for a guard that is not declared */
  guard(name: string): Auth {
    const bound = new Auth(this.realms, this.background, this.config, this.database);
    bound.name = this.realms.get(name).realm.guard;
    return bound;
  }

  /**
   * Starts a session and returns its tokens. They cannot be read again later.
   *
   * @param abilities the fixed list of abilities of the session; an empty list grants nothing. When omitted,
   * `hooks.abilities` decides each time an access token is issued
   * @throws AuthConfigError for an invalid list of abilities, for abilities among the options, for a life that the options
   * of the guard do not allow, or with `verifyOnly`; Unauthenticated for a user that does not exist; SignInRefused when `hooks.canSignIn` refuses
   * the user; TypeError for a value that is no id
   */
  async startSession(
    userId: string | number,
    options: StartOptions = {},
    abilities?: Iterable<string>,
  ): Promise<SessionTokens> {
    // Ignoring them there would start a session with all abilities of its user.
    if (options.abilities !== undefined) throw new AuthConfigError('Pass abilities as the third argument.');
    const start = { ...options, userId: idText(userId, 'userId'), abilities };
    return asPart(async () => {
      const tokens = await this.issuer.get(SignIn).startForHost(start);
      if (!tokens) throw new Unauthenticated(false);
      return tokens;
    });
  }

  /**
   * Authenticates a request by its `Authorization` header, as `@Authenticated({ optional: true })` does. For code that runs outside
   * of guarded handlers, such as middleware and public routes. The caller is recorded on the request.
   *
   * @param request of Express, of Fastify or of Node; another object with `headers`
   * @returns the caller; null without the header
   * @throws Unauthenticated (401) for a header that is not accepted; StoreUnavailable (503) if revocation or the user cannot be
   * checked
   */
  async callerOf(request: object): Promise<Caller | null> {
    const { scope } = this;
    try {
      return await asPart(() => scope.get(Authenticator).authenticateIfAsked(request));
    } catch (error) {
      throw isUnavailable(error) ? refusalOf(error).translatedBy(scope.realm.translatorFor(request)) : error;
    }
  }

  /**
   * Ends one session immediately: its refresh tokens and every access token.
   *
   * @throws StoreUnavailable; TypeError for a value that is no id
   */
  async revoke(familyId: string): Promise<void> {
    const id = idText(familyId, 'familyId');
    await asPart(() => this.sessionService.end(id, 'revoked'));
  }

  /**
   * Ends every session of the user in pages, the newest first: on this guard, and on every guard with the same users. For the
   * sessions of one guard only, call `auth.sessions.endAll` with the request of the user.
   *
   * @throws StoreUnavailable; the sessions that were ended before the error stay ended, so the call can be repeated.
   * TypeError for a value that is no id
   */
  async revokeAll(userId: string | number): Promise<void> {
    const id = idText(userId, 'userId');
    await this.ended((started, moment) => this.accounts.endExcept(id, started, 'revoked', moment));
  }

  /**
   * Ends every session of the user except one of this guard, as {@link revokeAll} does.
   *
   * @throws StoreUnavailable, TypeError as {@link revokeAll} does
   */
  async revokeOthers(userId: string | number, familyId: string): Promise<void> {
    const [id, except] = [idText(userId, 'userId'), idText(familyId, 'familyId')];
    await this.ended((started, moment) => this.accounts.endExcept(id, [except, ...started], 'others', moment));
  }

  /**
   * Ends every session of this guard, of all users, in pages. A session that starts during the call may remain. While a
   * store is unavailable, the call waits up to half a minute before it continues.
   *
   * @returns the number of sessions that the call ended
   * @throws StoreUnavailable, at once if the first page fails; the sessions that were ended before the error stay ended, so the call can be repeated
   */
  async revokeEverything(): Promise<number> {
    refuseWithin('revokeEverything');
    return this.sessionService.endEverything('revoked');
  }

  /**
   * Returns a confirmation token for the session of the caller, after the host has confirmed the user's identity in its own
   * way, for example with the social provider of a user without a password. It is as good as the one of
   * `POST /confirm-password`, and a pinned session needs the same ability. The host limits and logs its own attempts.
   *
   * @throws Unauthenticated for the caller of another guard, InsufficientScope, StoreUnavailable
   */
  async confirm(caller: Caller): Promise<string> {
    refuseWithin('confirm');
    return this.confirmation.issue(caller);
  }

  /**
   * Delivers tokens as the routes of this guard do: sets `Cache-Control` and, in cookie mode, the refresh cookie on the
   * response, and returns the body, which the caller sends.
   *
   * @param response the response of the HTTP adapter: of Express or Fastify
   */
  deliver(response: object, tokens: SessionTokens): TokenBody {
    const delivery = this.scope.get(TokenDelivery);
    delivery.forbidCaching(response);
    return delivery.deliver(tokens, response);
  }

  /** In cookie mode, removes the refresh cookie. For the response to a logout of the host. */
  forget(response: object): void {
    this.scope.get(TokenDelivery).forget(response);
  }

  /**
   * Returns the refresh token of a request where this guard reads it: `refresh_token` in its body, or in cookie mode the
   * cookie; see `refreshTokenFrom`. Empty without one.
   */
  refreshTokenOf(request: object): string {
    return this.scope.get(RefreshTokenPipe).transform(request);
  }

  /** Returns the public keys of this guard as a JWK Set (RFC 7517 §5). The set is empty under HS256. */
  jwks(): { keys: JsonWebKey[] } {
    return this.scope.get(Keyring).jwks();
  }

  /**
   * Writes every mail of this guard with example data, with the texts and templates of the host, and sends none: to look at
   * them.
   *
   * @param user the user whom the templates get; by default an object without fields
   */
  previewMails(language: Language, user: object = {}): Promise<MailPreview[]> {
    return this.scope.get(AccountMails).previews(language, user);
  }

  /**
   * Returns whether a verified token of this guard covers an ability, with the same result as `@Abilities`. Returns false
   * without such a token, even if the request has one of another guard.
   *
   * @param from the current request, its caller, or the user object that this guard put on the request
   */
  tokenCan(from: TokenSource, ability: string): boolean {
    return grantIn(from, this.scope.realm.guard).covers(ability);
  }

  /** The opposite of {@link tokenCan}. */
  tokenCannot(from: TokenSource, ability: string): boolean {
    return !this.tokenCan(from, ability);
  }

  /** Returns the abilities of a verified token of this guard, as the token lists them; without one, an empty list. */
  tokenAbilities(from: TokenSource): readonly string[] {
    return grantIn(from, this.scope.realm.guard).abilities;
  }

  /**
   * Returns a user of this guard as the API shows it: `id`, `email_verified`, the fields of the host and, if the token
   * of the request belongs to this user, the abilities of that token.
   *
   * @param from the current request, its caller, or the user object that this guard put on the request
   * @param fields fields that the host adds; they cannot replace the fields of the library
   */
  userResource(user: object, from?: TokenSource, fields: object = {}): UserResource {
    return this.scope.get(UserResources).describe(user, tokenIn(from, this.scope.realm.guard), fields);
  }

  /**
   * Returns the configuration of a guard with all defaults applied, without secrets, keys and functions.
   *
   * @param name name of the guard; the guard of this `Auth` when omitted
   * @throws AuthConfigError for a guard that is not declared
   */
  guardConfig(name?: string): PublicGuardConfig {
    const { realm } = this.realms.named(name) ?? this.scope;
    return publicConfig(realm.options, OPTIONS);
  }

  /**
   * Waits until what the requests before this call have started, and do not wait for, has ended or failed, for all guards: mails,
   * listeners of events, lines of the security log, and cleanups after a change. Call it before the process may be frozen or
   * ended. It does not wait for the later attempts of a mail that was refused. Never rejects.
   *
   * @param timeoutMs longest wait in milliseconds
   * @returns whether everything has ended
   */
  settled(timeoutMs = SETTLED_MS): Promise<boolean> {
    return this.background.settled(timeoutMs);
  }

  /**
   * Runs calls of the library in a transaction that the host has begun: `startSession`, `revoke`, `revokeAll`, `revokeOthers` and
   * `registration.register`. After a rollback nothing of them exists. Denials of access tokens, events, mails and the end of
   * sign-ins that have begun follow the commit; {@link settled} waits for them. Send no other statements on the connection while a
   * call runs. Calls that run side by side have turns.
   *
   * @param connection the entity manager of the transaction, of the data source of the library; or a client of node-postgres
   * after `BEGIN`, of the same database
   * @param work its calls run in the transaction, and it awaits them. An error undoes them, so that the transaction can go on
   * @throws AuthConfigError without an open transaction, for another data source, for a call that cannot be part of a
   * transaction, and for one that was not awaited; every error of `work`
   * @example await dataSource.transaction((manager) => auth.within(manager, () => auth.revokeAll(user.id)))
   */
  async within<T>(connection: EntityManager | object, work: () => Promise<T>): Promise<T> {
    refuseVerifyOnly(this.config);
    return (await this.openOn(connection)).within(work);
  }

  /**
   * Runs `work` in a transaction, as {@link within} does, commits, and then waits for what follows the commit or the rollback, for
   * at most `storeTimeoutMs`. Later work continues in the background.
   *
   * @param work receives the entity manager of the transaction. Runs once. An error rolls everything back
   * @throws every error of `work`; AuthConfigError for a call that cannot be part of a transaction
   * @example const tokens = await auth.transaction(async (manager) => {
   *   const user = await manager.save(User, values);
   *   return auth.startSession(user.id);
   * });
   */
  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    refuseVerifyOnly(this.config);
    refuseWithin('transaction');
    let transaction: HostTransaction | undefined;
    try {
      return await this.database.source.transaction(async (manager) => {
        transaction = await this.openOn(manager);
        return transaction.within(() => work(manager));
      });
    } finally {
      await Promise.race([transaction?.settled, sleep(this.config.storeTimeoutMs, undefined, { ref: false })]);
    }
  }

  private openOn(connection: object): Promise<HostTransaction> {
    return HostTransaction.on(connection, this.database.source, this.issuer.get(SessionStore));
  }

  /**
   * Makes an end of sessions, and in a transaction of the host makes it again after the commit: it also ends sign-ins that have
   * begun, outside the database, and the sessions that other requests have started until the commit.
   *
   * @param end receives the sessions that stay, which the transaction has started, and the moment of the commit
   */
  private ended(end: (started: readonly string[], committedAt?: number) => Promise<void>): Promise<void> {
    return asPart(async () => {
      const outer = outerTransaction();
      await outer?.after('the end of sessions', (committedAt) => end(outer.started, committedAt));
      await end([]);
    });
  }

  private get accounts(): Accounts {
    return this.issuer.get(Accounts);
  }

  private get sessionService(): Sessions {
    return this.issuer.get(Sessions);
  }

  private capability(type: Type<object>, feature: Feature): object {
    const { scope } = this;
    if (isFlow(type)) return this.name === undefined ? new type(this.realms) : new type(this.realms).guard(this.name);
    refuseWithin(type.name);
    if (scope.isOn(feature)) return scope.get(type);
    throw untold(new AuthConfigError(`features.${feature.flags![0]} is off for the guard "${scope.realm.guard}".`));
  }

  /** @throws AuthConfigError in a service that only verifies */
  private get issuer(): RealmScope {
    refuseVerifyOnly(this.config);
    return this.scope;
  }

  private get scope(): RealmScope {
    return this.name === undefined ? this.realms.default : this.realms.get(this.name);
  }
}

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- features add their capabilities to the interface
export interface Auth extends Capabilities {}
