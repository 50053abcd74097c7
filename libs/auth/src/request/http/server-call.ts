import { type ExecutionContext, Inject, Injectable, type Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import { AUTH_CONFIG, type AuthConfig, type GuardConfig, refuseVerifyOnly } from '../../foundation/config/auth-config';
import type { FeatureOptions } from '../../foundation/config/auth-options';
import { isProduction } from '../../foundation/config/option-values.policy';
import { mailErrors } from '../../foundation/config/url-checks';
import { RequestScope, asPart, isUnavailable } from '../../foundation/platform/deadline';
import { refuseWithin } from '../../foundation/platform/host-transaction';
import { AuthConfigError, AuthException } from '../../foundation/platform/errors';
import { CarriedRequest, type Handshake } from '../../foundation/ports/handshake';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Clock } from '../../foundation/platform/clock';
import { isOver } from '../../identity/tokens/access-token.policy';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import { Realm, type RealmScope, Realms } from '../../foundation/realm/realm';
import { type Caller, callerIn, recordCaller } from '../../identity/tokens/caller';
import { userProviderErrors } from '../../identity/users/provider-checks';
import { GateRefusalLog, RequestObserver, declarationOf } from '../gates/request-log';
import { detailOf, gateTypeOf, routePlan } from '../gates/route-plan';
import { forClient, overGraphql, refusalOf, untold } from '../gates/transport-errors';
import { FairShareKeys } from './client-info';
import { argumentsOf, bodyClassOf, wireName } from './request-body';

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

/** The handler of a route of the library. Its declaration applies to a server call. */
interface Route<C extends object = object> {
  /** `inTransaction` names the handlers that can be part of a transaction of the host. */
  readonly controller: Type<C> & { readonly inTransaction?: readonly string[] };
  readonly name: keyof C & string;
}

/**
 * What a server call passes to its route: the parameters of the path by their names, and the fields of the body by the names
 * of the properties of its class.
 */
export interface CallValues {
  /** Further fields of the body, by their names in a request. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** The capabilities of the library, by their names in `Auth`. Each feature adds its own by merging into this interface. */
export interface Capabilities {}

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** What the feature gives to code of the host: server calls, or a service of the guard. */
    readonly capabilities?: { readonly [Name in keyof Capabilities]?: Type<Capabilities[Name]> };
  }
}

type Work<T> = (request: ServerRequest) => Promise<T>;

/** Makes server calls of one realm: each passes the checks that its route declares. */
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

  /** Calls the handler of a route with arguments that its parameters read from the values, as from a request. */
  call(route: Route, source: CallSource, { fields = {}, ...values }: CallValues): Promise<unknown> {
    const parameters = argumentsOf(route.controller, route.name);
    const ofPath = parameters.flatMap(([kind, { data }]) => (isOfPath(kind) ? data : []));
    const type = bodyClassOf(route.controller, route.name) ?? Object;
    const ofBody = Object.entries(values)
      .filter(([name]) => !ofPath.includes(name))
      .map(([name, value]) => [wireName(type, name, this.realm.options.username), value as unknown]);
    return this.run(route, source, { ...fields, ...Object.fromEntries(ofBody) }, async (request) => {
      const own = await this.scope.create(route.controller);
      return (own[route.name] as Handler)(...(await this.argumentsFor(route, request, values)));
    });
  }

  private async argumentsFor(
    { controller, name }: Route,
    request: ServerRequest,
    given: Readonly<Record<string, unknown>>,
  ): Promise<unknown[]> {
    const context = new ExecutionContextHost([request], controller, controller.prototype[name] as () => unknown);
    const values: unknown[] = [];
    for (const [kind, { index, data, factory, pipes = [] }] of argumentsOf(controller, name)) {
      let value: unknown = factory ? factory(data, context) : isOfPath(kind) ? given[data as string] : request;
      for (const pipe of pipes) value = (await this.scope.create(pipe)).transform(value, { type: 'custom' });
      values[index] = value;
    }
    return values;
  }

  private get scope(): RealmScope {
    return this.realms.get(this.realm.guard);
  }

  /** @throws AuthConfigError if the feature of the route is off for the guard, or cannot work with its configuration, and in a service that only verifies */
  private requireFeature({ controller }: Route): void {
    refuseVerifyOnly(this.config);
    const { guard, features } = this.realm.options;
    const owns = ({ controllers = [], defaultGuardControllers = [] }: Feature): boolean =>
      controllers.includes(controller) || defaultGuardControllers.includes(controller);
    const feature = this.manifests.find(owns)!;
    const { flags, needs = [] } = feature;
    if (!flags) return;
    const on = flags.filter((flag) => features[flag]);
    if (!this.scope.isOn(feature)) {
      // All options can be on: an extra guard inherits the option of a feature that only the default guard has.
      const missing = (on.length > 0 && needs.find((flag) => !features[flag])) || flags[0];
      throw new AuthConfigError(`The guard "${guard}" does not have features.${missing}.`);
    }
    this.requireConfigured([...on, ...needs]);
  }

  /**
   * Makes the checks of features that are made at boot only for the mounted routes of the default guard.
   *
   * @throws AuthConfigError
   */
  private requireConfigured(called: readonly (keyof FeatureOptions)[]): void {
    const { config, realm } = this;
    if (realm.options.isDefault) return;
    const { features: all } = realm.options;
    const isCalled = (name: string): boolean => (called as readonly string[]).includes(name);
    const calledManifests = this.manifests.filter(({ flags }) => flags?.some(isCalled));
    const points: readonly string[] = calledManifests.flatMap(({ checkedWith = [] }) => checkedWith);
    const beside = this.manifests.filter(({ on = {} }) => Object.keys(on).some((point) => points.includes(point)));
    const isConcerned = (name: string): boolean =>
      isCalled(name) ||
      (all[name as keyof FeatureOptions] && beside.some(({ flags = [] }) => flags.some((flag) => flag === name)));
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
   * @throws AuthException, translated for the client; AuthConfigError with its text in `cause`; every error of code of the host unchanged
   */
  run<T>(route: Route, source: CallSource, body: object, work: Work<T>): Promise<T> {
    return this.observed(route, source, body, work).catch((error: unknown) => {
      throw error instanceof AuthConfigError ? untold(error) : error;
    });
  }

  private async observed<T>(route: Route, source: CallSource, body: object, work: Work<T>): Promise<T> {
    const { controller, name } = route;
    if (!controller.inTransaction?.includes(name)) refuseWithin(`The call of ${controller.name}.${name}`);
    this.requireFeature(route);
    const handler = controller.prototype[name] as object;
    const request = this.requestOf(source, body);
    const scope = RequestScope.of(request);
    scope.fairShareKeys = () => this.fairShareKeys.of(request);
    try {
      await scope.run(() => asPart(() => this.checkGates(controller, handler, request)));
      return (await this.observer.observe(declarationOf(handler)!, request, () =>
        scope.run(() => asPart(() => work(request))),
      )) as T;
    } catch (error) {
      if (!(error instanceof AuthException) && !isUnavailable(error)) throw error;
      // A resolver of the host may make the call, and other transports ignore the extensions.
      throw overGraphql(forClient(refusalOf(error), this.scope, request));
    } finally {
      scope.end();
    }
  }

  private requestOf(source: CallSource, body: object): ServerRequest {
    const { request: from = source, userAgent, confirmationToken } = source;
    const recorded = callerIn(from, this.realm.guard);
    // Such a copy would count as an unknown client. The headers are a member of the prototype; the raw ones, and Fastify's `raw`, are own.
    if (!from.headers && (from.rawHeaders || from.raw || (recorded && recorded !== from))) {
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
  private async checkGates(controller: Type, handler: object, request: object): Promise<void> {
    const context = { getClass: () => controller, getHandler: () => handler, getType: () => 'server' };
    try {
      for (const gate of routePlan(controller, handler).gates) {
        await this.scope.get(gateTypeOf(gate)).check(context as unknown as ExecutionContext, request, detailOf(gate));
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

/** Whether an argument of a handler, by Nest's key, is a parameter of the path. */
const isOfPath = (kind: string): boolean => kind.startsWith(`${RouteParamtypes.PARAM}:`);

type Handler = (...args: unknown[]) => unknown;

type ResultOf<H> = H extends (...args: never[]) => infer R ? Awaited<R> : never;

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

  constructor(protected readonly realms: Realms) {}

  /** Returns the same capability of another guard. @throws AuthConfigError for a guard that is not declared */
  guard(name: string): this {
    const bound = new (this.constructor as new (realms: Realms) => this)(this.realms);
    bound.name = this.realms.get(name).realm.guard;
    return bound;
  }

  /** A service of the guard. */
  protected get<S>(service: Type<S> | (abstract new (...args: never[]) => S)): S {
    return this.scope.get(service);
  }

  /**
   * Makes the server call of a route: its checks, then its handler. Returns what the handler returns.
   *
   * @throws AuthConfigError if the feature of the route is off for the guard
   */
  protected async call<C extends object, N extends keyof C & string>(
    controller: Type<C>,
    name: N,
    source: CallSource,
    values: object = {},
  ): Promise<ResultOf<C[N]>> {
    const route = { controller, name } as unknown as Route;
    return (await this.get(ServerCalls).call(route, source, { ...values })) as ResultOf<C[N]>;
  }

  /** As {@link call}, for a call whose values are not those of a request: `work` runs in place of the handler. */
  protected async run<C extends object, T>(
    controller: Type<C>,
    name: keyof C & string,
    source: CallSource,
    work: Work<T>,
    body: object = {},
  ): Promise<T> {
    return this.get(ServerCalls).run({ controller, name } as unknown as Route, source, body, work);
  }

  protected get scope(): RealmScope {
    return this.name === undefined ? this.realms.default : this.realms.get(this.name);
  }
}
