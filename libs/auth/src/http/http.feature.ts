import type { Feature } from '../realm/feature';
import { AuthenticationGate } from './authentication.gate';
import { OriginGate } from './origin.gate';
import { RefreshCookie } from './refresh-cookie';

/** The wire of a realm. */
export const http: Feature = {
  providers: [OriginGate, AuthenticationGate, RefreshCookie],
};
