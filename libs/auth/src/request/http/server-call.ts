import { type ExecutionContext, Inject, Injectable, type Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import { AUTH_CONFIG, type AuthConfig, type GuardConfig } from '../../foundation/config/auth-config';
import type { FeatureOptions } from '../../foundation/config/auth-options';
import { isProduction } from '../../foundation/config/option-values.policy';
import { mailErrors } from '../../foundation/config/url-checks';
import { RequestScope, isUnavailable } from '../../foundation/platform/deadline';
import { AuthConfigError, AuthException } from '../../foundation/platform/errors';
import { CarriedRequest, type Handshake } from '../../foundation/ports/handshake';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Clock } from '../../foundation/platform/clock';
import { isOver } from '../../identity/tokens/access-token.policy';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import { Realm, type RealmScope, Realms } from '../../foundation/realm/realm';
import { type Caller, callerAt, callerIn, recordCaller } from '../../identity/tokens/caller';
import { userProviderErrors } from '../../identity/users/provider-checks';
import { GateRefusalLog, RequestObserver, recordMountPath } from '../gates/request-log';
import { detailOf, gateTypeOf, routePlan } from '../gates/route-plan';
import { overGraphql, refusalOf } from '../gates/transport-errors';
import { FairShareKeys } from './client-info';
import { readBody } from './request-body';

/**
 * The client of a server call: the current request of the host, or a description of the client.
 *
 * Rate limits count `ip`. Lists of sessions show `ip` and the user agent. In cookie mode, the headers of a request also
 * show whether a page of another origin sent it. Pass the request where there is one.
 *
 * @publicApi
 */
export interface CallSource extends Handshake {
  /**
   * The current request, where further members are given: `{ request, confirmationToken }`. Do not copy the members of a
   * request (`{ ...request }`): the headers and the address would be lost.
   */
  readonly request?: Handshake;
  /** The `User-Agent` of the client. Default: the header of the request. */
  readonly userAgent?: string;
  /**
   * The caller of a call that needs one. Default: the caller that a guard of the library has recorded on the request,
   * otherwise the owner of the access token in its `Authorization` header.
   */
  readonly caller?: Caller;
  /** The confirmation token of a call that needs one. Default: the header `confirm.header` of the request. */
  readonly confirmationToken?: string;
}

/**
 * The request of a server call, as limiters, hooks and `messages` receive it. `source` is what the host has passed.
 *
 * @publicApi
 */
export class ServerRequest extends CarriedRequest {
  /** The host name of the API, as the HTTP adapter of the host reads it. */
  readonly host: unknown;

  /** @param body the values of the call under the names that the fields have in a request body */
  constructor(
    source: Handshake,
    headers: CarriedRequest['headers'],
    readonly body: object,
  ) {
    super(source, headers);
    this.host = (source as { host?: unknown }).host;
  }
}

/** A route of the library whose declarations apply to a server call. */
interface Route {
  readonly controller: Type;
  readonly handler: object;
}

/** Makes server calls of one realm: each passes the checks that the decorators of its route declare. */
@Injectable()
export class ServerCalls {
  constructor(
    private readonly realm: Realm,
    private readonly realms: Realms,
    private readonly observer: RequestObserver,
    private readonly fairShareKeys: FairShareKeys,
    private readonly gateRefusalLog: GateRefusalLog,
    private readonly users: UserProvider,
    private readonly clock: Clock,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
    @Inject(MANIFESTS) private readonly manifests: readonly Feature[],
  ) {}

  /**
   * Makes the checks of one feature that are made at boot only for the mounted routes of the default guard.
   *
   * @throws AuthConfigError
   */
  requireConfigured(feature: keyof FeatureOptions): void {
    const { config, realm } = this;
    if (config.routes && realm.options.isDefault) return;
    const { features: all } = realm.options;
    const { checkedWith = [] } = this.manifests.find(({ flags }) => flags?.includes(feature)) ?? {};
    const isConcerned = (name: string): boolean =>
      name === feature || checkedWith.some((one) => one === name && all[one]);
    const features = Object.fromEntries(Object.keys(all).map((name) => [name, isConcerned(name)]));
    const guard = { ...realm.options, features } as GuardConfig;
    const problems = [
      ...userProviderErrors(this.users, guard, this.manifests),
      ...mailErrors(guard, config.encryption, isProduction(), this.manifests),
    ];
    if (problems.length) throw new AuthConfigError(problems.join('\n'));
  }

  /**
   * Checks the gates of the route, runs `work`, and reports the outcome to operators, as for a request to the route. All
   * waits for stores share one deadline.
   *
   * @throws AuthException, translated for the client; every error of code of the host unchanged
   */
  async run<T>(
    route: Route,
    source: CallSource,
    body: object,
    work: (request: ServerRequest) => Promise<T>,
  ): Promise<T> {
    const { controller, handler } = route;
    recordMountPath(controller, Reflect.getMetadata(PATH_METADATA, controller) as string);
    const request = this.requestOf(source, body);
    const scope = RequestScope.of(request);
    scope.fairShareKeys = () => this.fairShareKeys.of(request);
    try {
      await scope.run(() => this.checkGates(route, request));
      return (await this.observer.observe(controller, handler, request, () => scope.run(() => work(request)))) as T;
    } catch (error) {
      if (!(error instanceof AuthException) && !isUnavailable(error)) throw error;
      // A resolver of the host may make the call, and other transports ignore the extensions.
      throw overGraphql(refusalOf(error).translatedBy(this.realm.translatorFor(request)));
    } finally {
      scope.end();
    }
  }

  private requestOf(source: CallSource, body: object): ServerRequest {
    const { request: from = source, userAgent, confirmationToken } = source;
    const recorded = callerIn(from, this.realm.guard);
    if (recorded && recorded !== from && !from.headers) {
      throw new AuthConfigError('A copy of a request has no headers and no address. Pass { request, … } instead.');
    }
    const given = {
      ...inLowerCase(from.headers),
      ...(userAgent !== undefined && { 'user-agent': userAgent }),
      ...(confirmationToken !== undefined && { [this.realm.options.confirm.header.toLowerCase()]: confirmationToken }),
    };
    const request = new ServerRequest(from, given, body);
    const caller = source.caller ? callerIn(source.caller, this.realm.guard) : recorded;
    const { leeway } = this.realm.options;
    // A gateway may have kept the caller of an earlier message.
    if (caller && !isOver(caller.claims, leeway, this.clock.seconds())) recordCaller(request, caller);
    return request;
  }

  /** A caller that is recorded on the request is not authenticated again. */
  private async checkGates({ controller, handler }: Route, request: object): Promise<void> {
    const context = { getClass: () => controller, getHandler: () => handler, getType: () => 'server' };
    const scope = this.realms.get(this.realm.guard);
    try {
      for (const gate of routePlan(controller, handler).gates) {
        await scope.get(gateTypeOf(gate)).check(context as unknown as ExecutionContext, request, detailOf(gate));
      }
    } catch (error) {
      this.gateRefusalLog.write(error, this.realm.guard, context as unknown as ExecutionContext, request);
      throw error;
    }
  }
}

/** The headers with names in lower case. A name in two spellings becomes a list, which no reader takes for one value. */
function inLowerCase(headers: Handshake['headers'] = {}): Record<string, string | string[] | undefined> {
  const named = new Map<string, string | string[] | undefined>();
  for (const [spelled, value] of Object.entries(headers)) {
    const name = spelled.toLowerCase();
    named.set(name, named.has(name) ? ([named.get(name), value].flat() as string[]) : value);
  }
  return Object.fromEntries(named);
}

/**
 * One capability of the library for code of the host. Each method is the server call of one route: it has the same rate
 * limits, lockout, checks and events. It takes values, returns values, and throws the exceptions of the library.
 *
 * Injected, it acts for the default guard.
 *
 * @publicApi
 */
@Injectable()
export abstract class Flow {
  private name?: string;

  /** The feature that contains the capability; undefined if it is always on. */
  protected readonly feature?: keyof FeatureOptions;

  constructor(protected readonly realms: Realms) {}

  /** Returns the same capability of another guard. @throws AuthConfigError for a guard that is not declared */
  guard(name: string): this {
    const bound = new (this.constructor as new (realms: Realms) => this)(this.realms);
    bound.name = this.realms.get(name).realm.guard;
    return bound;
  }

  /**
   * A service of the guard.
   *
   * @param feature the feature that contains the service
   * @throws AuthConfigError if the feature is off for the guard
   */
  protected get<S>(service: Type<S> | (abstract new (...args: never[]) => S), feature = this.feature): S {
    const { realm } = this.scope;
    if (this.scope.has(service)) return this.scope.get(service);
    throw new AuthConfigError(`The guard "${realm.guard}" does not have features.${feature}.`);
  }

  /** Makes a call without a body. */
  protected call<T>(
    controller: Type,
    handler: string,
    source: CallSource,
    work: (request: ServerRequest) => Promise<T>,
    body: object = {},
  ): Promise<T> {
    const calls = this.get(ServerCalls);
    if (this.feature) calls.requireConfigured(this.feature);
    return calls.run({ controller, handler: controller.prototype[handler] }, source, body, work);
  }

  /** Makes a call of an authenticated user. @throws Unauthenticated without a caller of this guard */
  protected callAs<T>(
    controller: Type,
    handler: string,
    source: CallSource,
    work: (caller: Caller, request: ServerRequest) => Promise<T>,
    body?: object,
  ): Promise<T> {
    const guard = this.scope.realm.guard;
    return this.call(controller, handler, source, (request) => work(callerAt(request, guard), request), body);
  }

  /** Validates the values of a call as the body of its route. @throws ValidationFailed */
  protected read<B extends object>(type: Type<B>, { body }: ServerRequest): B {
    return readBody(type, body, this.scope.realm.options.username);
  }

  protected get scope(): RealmScope {
    return this.name === undefined ? this.realms.default : this.realms.get(this.name);
  }
}
