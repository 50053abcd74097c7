import type { Feature } from '../../foundation/realm/feature';
import { FairShareKeys } from '../http/route.interceptor';
import { RequestFairShareKeys, Clients } from './clients';
import { FailureLimiter, FailureLimits } from './failure-limiter';
import { Limiters } from './limiters';
import { ThrottleGate } from './throttled';

/** Rate limits: of requests by route, of failures by account. */
export const throttling: Feature = {
  providers: [
    Clients,
    { provide: FairShareKeys, useClass: RequestFairShareKeys },
    Limiters,
    FailureLimiter,
    FailureLimits,
    ThrottleGate,
  ],
};
