import type { Feature } from '../realm/feature';
import { AuthenticationGate } from './authentication.gate';
import { RefreshCookie } from './refresh-cookie';

/** The wire of a realm. */
export const http: Feature = {
  providers: [AuthenticationGate, RefreshCookie],
};
