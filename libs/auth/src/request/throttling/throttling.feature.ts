import type { Feature } from '../../foundation/realm/feature';
import { FairShareKeys } from '../http/route.interceptor';
import { RequestFairShareKeys, Clients } from './clients';
import { Limiters, ThrottleGate } from './limiters';

/** Rate limits: of requests by route, of failures by account. */
export const throttling: Feature = {
  providers: [Clients, { provide: FairShareKeys, useClass: RequestFairShareKeys }, Limiters, ThrottleGate],
};
