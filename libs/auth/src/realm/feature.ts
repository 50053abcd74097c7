import type { Provider, Type } from '@nestjs/common';
import type { FeatureOptions } from '../config/auth-options';

/** A capability's manifest: what a realm gains when it is on, and what stands in when it is off. */
export interface Feature {
  /** The option that switches it; absent for what is always there. */
  readonly flag?: keyof FeatureOptions;
  readonly controllers?: readonly Type[];
  readonly providers?: readonly Provider[];
  /** Null objects, so that callers hold the service and never ask whether it is on. */
  readonly whenOff?: readonly Provider[];
  readonly entities?: readonly Type[];
}
