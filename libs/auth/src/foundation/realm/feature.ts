import type { Provider, Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AuthConfig, GuardConfig } from '../config/auth-config';
import type { FeatureOptions } from '../config/auth-options';
import type { FeatureData, GuardServices } from './feature-data';
import type { OptionFacets, OptionSpec } from '../config/option-table';
import type { UserSource } from './user-source';

/**
 * What features do at points of other flows, at each guard where they are on. The flow that runs a point declares it, by merging
 * into this interface.
 */
export interface HookPoints {}

/** A command of the console with options, which works with the services of one guard: with arguments, a person can name it. */
export interface ConsoleCommand {
  readonly description: string;
  readonly arguments: readonly Readonly<Record<'name' | 'description', string>>[];
  /** What each option does, by its flags with a value: `--days <number>`. */
  readonly options?: Readonly<Record<string, string>>;
  /** What a person at a terminal is asked before the command runs; null for no question. */
  question?(given: readonly string[], options: Readonly<Partial<Record<string, string>>>): string | null;
  /** Resolves to the line that the command prints, or to the reason why it did nothing. */
  run(
    services: GuardServices,
    given: readonly string[],
    options: Readonly<Partial<Record<string, string>>>,
  ): Promise<{ readonly done: string } | { readonly refused: string }>;
}

/** What a request waits for: round trips in a row, with every feature on, and those of its longest single wait. */
export interface Waits {
  /** The row of the table in `docs/deployment.md`. */
  readonly row: string;
  readonly inARow: number;
  readonly longest: number;
}

/** A factor that users enrol. The challenge after the password declares its members, by merging into this interface. */
export interface Factor {}

/**
 * The manifest of a feature: everything that the feature adds to the library. What reads a member of all manifests declares
 * that member, by merging into this interface, so that this storey knows no members of the storeys above it.
 */
export interface Feature extends OptionFacets {
  readonly name: string;
  /**
   * Loads the members that only hosts with the feature need: routes, services, hooks, events. So a process without it does not load
   * their modules. Only for a feature that is off by default.
   */
  load?: (() => Partial<Feature>) | undefined;
  /** Options that must be on as well. Otherwise the application does not start. */
  readonly needs?: readonly (keyof FeatureOptions)[];
  /**
   * Why the application must not start with a configuration, each text with the correction. Is called whether the
   * feature is on or off, and again when the tables of the entities are known.
   *
   * @param sources the source of users of each guard
   * @param manifests those of all features
   */
  readonly configErrors?: (
    config: AuthConfig,
    production: boolean,
    sources: ReadonlyMap<string, UserSource>,
    manifests: readonly Feature[],
  ) => readonly string[];
  /**
   * Points that the flows of the feature run. The features with a hook there are checked together with this one, before its first
   * server call at a guard without routes.
   */
  readonly checkedWith?: readonly (keyof HookPoints)[];
  /** Whether the feature is on where another one is: it has the flags of all features for which this returns true. */
  readonly onWith?: (feature: Feature) => boolean;
  /** Controllers of every guard. */
  readonly controllers?: readonly Type[];
  /** Controllers of the default guard only. */
  readonly defaultGuardControllers?: readonly Type[];
  /** The page of `docs` about its routes, where it has another name than the folder of the feature. */
  readonly page?: string;
  /** Providers of every guard with the feature. */
  readonly providers?: readonly Provider[];
  /** By name, without the prefix `svc:`. */
  readonly commands?: Readonly<Record<string, ConsoleCommand>>;
  /** The round trips of flows of the feature, by the names of the flows. */
  readonly waits?: Readonly<Record<string, Waits>>;
  readonly data?: FeatureData;
  /** Whether users enrol a factor with it: a second factor, or one that signs in. */
  readonly factor?: Factor;
  readonly on?: HookPoints;
}

/** Declares a feature. `features.ts` lists all of them. */
export const defineFeature = (name: string, members: Omit<Feature, 'name'>): Feature => ({ name, ...members });

/** Completes the manifests with {@link Feature.load}: of the features with a flag that is on. */
export function loadMembers(manifests: readonly Feature[], isFlagOn: (flag: keyof FeatureOptions) => boolean): void {
  for (const feature of manifests)
    if (feature.load && feature.flags?.some(isFlagOn)) Object.assign(feature, feature.load(), { load: undefined });
}

/** The features, each with `onWith` with the flags of the others. */
export const withFlags = (features: readonly Feature[]): readonly Feature[] =>
  features.map((feature) =>
    feature.onWith
      ? { ...feature, flags: features.filter(feature.onWith).flatMap(({ flags = [] }) => flags) }
      : feature,
  );

/** Whether extra guards cannot have a feature. */
export const isOfDefaultGuard = ({ flags = [], options }: Feature): boolean =>
  flags.some((flag) => (options?.features as Record<string, OptionSpec> | undefined)?.[flag]?.defaultGuardOnly);

/** Whether a feature with flags is on at a guard. */
export const isOnAt = (feature: Feature, { isDefault, features }: GuardConfig): boolean =>
  (isDefault || !isOfDefaultGuard(feature)) && Boolean(feature.flags?.some((flag) => features[flag]));

/**
 * The named things that all manifests state in one facet.
 *
 * @throws Error if two features state one name
 */
export function statedBy<T>(
  manifests: readonly Feature[],
  facet: (feature: Feature) => Readonly<Record<string, T>> | undefined,
): ReadonlyMap<string, T> {
  const stated = new Map<string, T>();
  for (const feature of manifests) {
    for (const [name, thing] of Object.entries(facet(feature) ?? {})) {
      if (stated.has(name)) throw new Error(`two features state ${name}, one of them is ${feature.name}`);
      stated.set(name, thing);
    }
  }
  return stated;
}

/** DI token of the list of all manifests, also of the features that are off. */
export const MANIFESTS = Symbol('MANIFESTS');

/** The name of the guard of a route. Set by `@Authenticated('name')` and on every mounted controller. */
export const GuardName = Reflector.createDecorator<string>();

/** Marks a controller of the library. */
export const Mounted = Reflector.createDecorator<boolean>();
