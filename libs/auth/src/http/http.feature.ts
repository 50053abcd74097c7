import type { Feature } from '../realm/feature';
import { AuthenticationGate } from './authentication.gate';
import { OriginGate } from './origin.gate';
import { RefreshCookie } from './refresh-cookie';
import { RequestObserver } from './request-observer';
import { TokenDelivery } from './token-delivery';

/** The wire of a realm. */
export const http: Feature = {
  providers: [OriginGate, AuthenticationGate, RefreshCookie, RequestObserver, TokenDelivery],
};
