import { defineFeature } from '../../foundation/realm/feature';
import { Limiters, ThrottleGate } from './limiters';

/** Rate limits for the requests to a route. */
export const throttling = defineFeature('throttling', {
  providers: [Limiters, ThrottleGate],
});
