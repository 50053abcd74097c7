import type { Feature } from '../realm/feature';
import { VerifiedEmailGate } from './verified-email.gate';

/** Routes for users with a verified email. */
export const verifiedEmail: Feature = {
  providers: [VerifiedEmailGate],
};
