import type { Feature } from '../../foundation/realm/feature';
import { Applicants } from '../http/route.interceptor';
import { ApplicantsOfRequests, Clients } from './clients';
import { FailureLimiter, FailureLimits } from './failure-limiter';
import { Limiters } from './limiters';
import { ThrottleGate } from './throttled';

/** Rate limits: of requests by route, of failures by account. */
export const throttling: Feature = {
  providers: [
    Clients,
    { provide: Applicants, useClass: ApplicantsOfRequests },
    Limiters,
    FailureLimiter,
    FailureLimits,
    ThrottleGate,
  ],
};
