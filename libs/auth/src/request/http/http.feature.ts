import { defineFeature } from '../../foundation/realm/feature';
import { AuthenticationGate, OptionalAuthenticationGate } from '../gates/authenticated';
import { OriginGate, SenderGate } from '../gates/sender.gate';
import { Clients, FairShareKeys } from './client-info';
import { CookieRemoval, RefreshCookie, RefreshTokenPipe } from './cookies';
import { RequestObserver } from '../gates/request-log';
import { ServerCalls } from './server-call';
import { Presentation } from './presentation';
import { RouteHandlers, TokenDelivery } from './route-answer';

/** HTTP handling of a realm: origin check, authentication, cookie, token responses and the request log. */
export const http = defineFeature('http', {
  providers: [
    OriginGate,
    AuthenticationGate,
    OptionalAuthenticationGate,
    SenderGate,
    Clients,
    FairShareKeys,
    RefreshCookie,
    RefreshTokenPipe,
    RequestObserver,
    TokenDelivery,
    CookieRemoval,
    RouteHandlers,
    Presentation,
    ServerCalls,
  ],
});
