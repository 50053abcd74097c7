/**
 * What the library offers to an added feature: a file of such a feature imports from here and from its own folder only. A group
 * is a module, so its members are documented where they are declared: those of `kit/<group>.ts` in the modules that it names.
 * Nothing in the foundation, the requests, the base features or the tools imports this file.
 */

// The manifest

/** Declares a feature. */
export { defineFeature } from './foundation/realm/feature';
/** The type of manifests and of their hook points, and the token of the list of all manifests. */
export * as manifest from './foundation/realm/feature';
/** One option: kind, default, range, variable. `TableOf` checks a table against its documented interface. */
export * as option from './foundation/config/option-table';
/** Limiters by client and by account. */
export * as limiter from './request/throttling/limiters';
/** The data of a feature: what is exported, erased and pruned. */
export * as data from './foundation/realm/feature-data';
/** Events of a guard, their lines in the security log, and the mails that they cause. */
export * as event from './kit/event';
/** Kinds of mails with their examples, and the queue that sends them. */
export * as mailing from './kit/mailing';
/** The types of messages and mails in each language. */
export * as texts from './foundation/languages/catalogue';
/** Makes the function that renders the messages of a feature; the type of a rendered message, and the key of one of the library. */
export { type CoreMessageKey, type Text, featureTexts } from './foundation/platform/messages';

// Routes

/** Routes with their gates, arguments, answers, refusals, cookies and server calls. */
export * as http from './kit/http';
/** Fields of a request body, and their rules. */
export * as input from './request/http/request-body';
/** The reader of codes that people type, and their formats. */
export { type CodeFormat, typedCode } from './request/http/typed-code';
/** Schemas of answers, for OpenAPI. */
export * as schema from './foundation/platform/schema';
/** Failures with their responses, and errors of the configuration. */
export * as errors from './foundation/platform/errors';

// Users and sessions

/** Who a user is: the provider of users, passwords, callers, tokens with a purpose. */
export * as identity from './kit/identity';
/** Signing in: sessions, second factors, confirmations, the end of what a user has open. */
export * as session from './kit/session';
/** Attempts with a secret: their failures are counted, and lock the account. */
export * as locking from './kit/locking';

// Services

/** The resolved options of a guard and of the module. */
export * as settings from './foundation/config/auth-config';
/** The options as the host gives them. */
export type { AuthModuleOptions } from './foundation/config/auth-options';
/** The name of the application in mails and authenticators. */
export { appName } from './foundation/config/core-options';
/** What is wrong with the URLs of mailed links; the registrable domain of a host. */
export { mailedUrlErrors, registrationOf } from './foundation/config/url-checks';
/** The guard that a service belongs to; the services of one guard; all guards. */
export { Realm, RealmScope, Realms } from './foundation/realm/realm';
/** Whether the process runs in production. */
export { isProduction } from './foundation/config/option-values.policy';
/** The time. */
export { Clock } from './foundation/platform/clock';
/** Queries and transactions on PostgreSQL, their errors, and sweeps over a table. */
export * as pg from './kit/pg';
/** Counters and values that expire, shared by all processes; a limit that it counts. */
export { type Limit, SecurityStore } from './foundation/security-store/security-store';

// Functions

/** Secrets, hashes, signatures, and encryption at rest. */
export * as crypto from './foundation/platform/crypto';
/** Calls of stores and of the host: their timeouts, and what to do without an answer. */
export * as deadline from './foundation/platform/deadline';
/** Loads an optional peer dependency. */
export * as peer from './foundation/platform/optional-peer';
