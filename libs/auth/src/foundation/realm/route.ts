import { RequestMethod, type Type } from '@nestjs/common';
import { type AbstractHttpAdapter, type ApplicationConfig, Reflector } from '@nestjs/core';
import type { GuardConfig } from '../config/auth-config';
import { trimSlashes } from '../config/core-options';
import type { Operation } from '../platform/catalogue';
import type { AuthException } from '../platform/errors';
import type { Schema } from '../platform/schema';
import type { Presenter } from '../ports/presenter';
import type { Feature } from './feature';
import type { RealmScope } from './realm';

/** Bodies of successful responses by status; null for no body. */
export type Answers = Readonly<Partial<Record<200 | 201 | 202 | 204 | 302 | 303, Schema | null>>>;

/** A schema that can depend on the options of the guard. */
export type SchemaOf = Schema | ((options: GuardConfig, manifests: readonly Feature[]) => Schema);

/** The class of an exception that has no parameters, or a function that creates the exceptions of a guard. */
export type Refusal =
  | (new () => AuthException)
  | ((
      options: GuardConfig,
      manifests: readonly Feature[],
      services: RealmScope,
    ) => AuthException | readonly AuthException[]);

/** Changes the answer of a handler that has succeeded, or the headers of its response. */
export interface AnswerStep {
  /** Returns the answer for the next step. */
  apply(answer: unknown, request: object, response: unknown): unknown;
}

/** What a route of the library declares besides its place and its gates. */
export interface RouteDeclaration {
  /** The name of the route in the security log, in the metrics and in OpenAPI. No two routes have the same. */
  readonly operation: Operation;
  readonly summary: string;
  /** What clients must know besides the answers, for `docs/routes.md`. */
  readonly note?: string;
  /** Body of the success response, with the status of the route. `answers` lists several. Omit both for no body. */
  readonly answer?: SchemaOf;
  readonly answers?: (options: GuardConfig, manifests: readonly Feature[]) => Answers;
  /** The `status` in the body of the success response, for a handler that returns nothing. */
  readonly done?: string;
  /** The status of an answer, where it does not always have that of the route. */
  readonly statusOf?: (answer: object) => number;
  /** The exceptions of the handler. Those of the gates and of the body are added. */
  readonly refusals?: readonly Refusal[];
  /** The parameters of the path and of the query, by name. */
  readonly parameters?: Readonly<Record<string, Schema>>;
  /** The parameters of the query that may be absent. */
  readonly optionalParameters?: readonly string[];
  /** The schema of the request body where the handler reads fields that its class does not declare. */
  readonly body?: (scope: RealmScope, declared: Schema | null) => Schema;
  /** Whether it starts a session that the field `remember` can end with the browser. */
  readonly remembers?: boolean;
  /** What follows the handler, in this order. Each class is a provider of the feature. */
  readonly steps?: readonly Type<AnswerStep>[];
  /** Which method of the presenter of the host gets the answer. */
  readonly presentedAs?: keyof Presenter;
  /** Whether its success is not logged: it is too frequent, not relevant to security, or emits its own event. */
  readonly quiet?: boolean;
  /**
   * Whether its gates and its handler run beside the request scope. The handler enters the scope itself where it calls code of the
   * host or waits many times: see `RequestScope.beside`.
   */
  readonly besideScope?: boolean;
  /** Why the route has no limiter: see `limitationOf`. The reason completes "No limiter: …" in `docs/routes.md`. */
  readonly unlimited?: string;
}

/** Marks a route that needs no authentication. */
export const PublicRoute = Reflector.createDecorator<boolean>();

/** The declaration of a route, on its handler. */
export const Declared = Reflector.createDecorator<RouteDeclaration>();

/** Caches may keep a public document for an hour. */
export const PUBLIC_CACHING = 'max-age=3600, public';

/**
 * Serves a document at a path that a specification fixes. It is registered at the adapter, because the path lies outside the paths
 * of the library and the prefix of the application. Called before the routes of the application are mounted.
 */
export function publishAt(adapter: AbstractHttpAdapter, path: string, read: () => object): void {
  adapter.get(path, (_request: unknown, response: unknown) => {
    adapter.setHeader(response, 'Cache-Control', PUBLIC_CACHING);
    adapter.setHeader(response, 'X-Content-Type-Options', 'nosniff');
    adapter.reply(response, read(), 200);
  });
}

/** The settings of an application that decide on its global prefix. */
export type Prefixed = Pick<ApplicationConfig, 'getGlobalPrefix' | 'getGlobalPrefixOptions'>;

/**
 * The global prefix of a GET route, without slashes around it; empty if it has none. Pure.
 *
 * @param route the path without the prefix and without a leading slash
 */
export function prefixOf(application: Prefixed, route: string): string {
  const { exclude = [] } = application.getGlobalPrefixOptions();
  const methods = [RequestMethod.ALL, RequestMethod.GET];
  const isExcluded = exclude.some((one) => methods.includes(one.requestMethod) && one.pathRegex.test(`/${route}`));
  return isExcluded ? '' : trimSlashes(application.getGlobalPrefix());
}
