import type { Feature } from '../realm/feature';
import { Applicants } from '../http/applicants';
import { ApplicantsOfRequests } from './applicants-of-requests';
import { Clients } from './clients';
import { FailureLimiter } from './failure-limiter';
import { FailureLimits } from './failure-limits';
import { Limiters } from './limiters';
import { ThrottleGate } from './throttle.gate';

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
