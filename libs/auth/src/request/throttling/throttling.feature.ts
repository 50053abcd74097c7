import type { Feature } from '../../foundation/realm/feature';
import { Limiters, ThrottleGate } from './limiters';

/** Rate limits for the requests to a route. */
export const throttling: Feature = {
  providers: [Limiters, ThrottleGate],
};
