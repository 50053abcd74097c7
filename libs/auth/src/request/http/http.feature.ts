import type { Feature } from '../../foundation/realm/feature';
import { AuthenticationGate } from '../gates/authenticated';
import { OriginGate } from '../gates/origin.gate';
import { RefreshCookie } from './refresh-cookie';
import { RequestObserver } from '../gates/request-log';
import { TokenDelivery } from './route.interceptor';

/** The wire of a realm. */
export const http: Feature = {
  providers: [OriginGate, AuthenticationGate, RefreshCookie, RequestObserver, TokenDelivery],
};
