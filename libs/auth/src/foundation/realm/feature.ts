import type { Provider, Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FeatureOptions } from '../config/auth-options';

/** A capability's manifest: what a realm gains when it is on, and what stands in when it is off. */
export interface Feature {
  /** The options any of which switches it on; none for what is always there. */
  readonly flags?: readonly (keyof FeatureOptions)[];
  /** What every guard mounts. */
  readonly controllers?: readonly Type[];
  /** What the default guard alone mounts. */
  readonly defaultGuardControllers?: readonly Type[];
  readonly providers?: readonly Provider[];
  /** Null objects, so that callers hold the service and never ask whether it is on. */
  readonly whenOff?: readonly Provider[];
}

/** The guard whose realm answers a route. Set by `@Authenticated('name')` and on every mounted controller. */
export const GuardName = Reflector.createDecorator<string>();

/** Marks a route that needs no caller. */
export const PublicRoute = Reflector.createDecorator<boolean>();

/** Marks a controller of the library's own. */
export const Mounted = Reflector.createDecorator<boolean>();
