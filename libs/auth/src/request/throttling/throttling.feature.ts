import type { Feature } from '../../foundation/realm/feature';
import { FairShareKeys } from '../http/route.interceptor';
import { RequestFairShareKeys, Clients } from './clients';
import { Limiters, ThrottleGate } from './limiters';

/** Rate limits for the requests to a route. */
export const throttling: Feature = {
  providers: [Clients, { provide: FairShareKeys, useClass: RequestFairShareKeys }, Limiters, ThrottleGate],
};
