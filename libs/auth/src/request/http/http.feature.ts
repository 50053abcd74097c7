import { defineFeature } from '../../foundation/realm/feature';
import { AuthenticationGate, OptionalAuthenticationGate } from '../gates/authenticated';
import { OriginGate } from '../gates/origin.gate';
import { Clients, FairShareKeys } from './client-info';
import { RefreshCookie, RefreshTokenPipe } from './cookies';
import { RequestObserver } from '../gates/request-log';
import { ServerCalls } from './server-call';
import { Presentation } from './presentation';
import { TokenDelivery } from './route.interceptor';

/** HTTP handling of a realm: origin check, authentication, cookie, token responses and the request log. */
export const http = defineFeature('http', {
  providers: [
    OriginGate,
    AuthenticationGate,
    OptionalAuthenticationGate,
    Clients,
    FairShareKeys,
    RefreshCookie,
    RefreshTokenPipe,
    RequestObserver,
    TokenDelivery,
    Presentation,
    ServerCalls,
  ],
});
