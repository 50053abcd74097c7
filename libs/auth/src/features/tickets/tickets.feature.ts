import { defineFeature } from '../../kit';
import { TicketGate } from './accepts-ticket';
import { SessionWatch } from './session-watch';
import { Tickets } from './tickets';

const reasons = {
  invalid_ticket: 'the ticket in the URL is unknown, used or expired, or it was issued for another request',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Tickets for requests that send no header, and the end of streams. */
    readonly tickets: Tickets;
  }
}

/** Tickets in place of the access token in the URL of one request. */
export const tickets = defineFeature('tickets', {
  reasons,
  capabilities: { tickets: Tickets },
  providers: [Tickets, TicketGate, SessionWatch],
});
