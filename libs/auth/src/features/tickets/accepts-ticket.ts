import { type ExecutionContext, Injectable, RequestMethod, applyDecorators } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { HttpAdapterHost } from '@nestjs/core';
import { errors, http, manifest } from '../../kit';
import { type TargetedRequest, Tickets, presentedBy } from './tickets';

/** The URL has a secret, which no other site gets as a referrer, and no cache keeps the answer for its next reader. */
const HEADERS = { 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-store, private' };

/** Authenticates a request with a ticket before the gates that require a user. */
@Injectable()
export class TicketGate implements http.Gate {
  static readonly stage = 'credential';

  constructor(
    private readonly tickets: Tickets,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  accept(_controller: object, handler: object): void {
    if (Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.GET)
      throw new errors.AuthConfigError('@AcceptsTicket() is for a route with @Get() or @Sse(). Remove it here.');
  }

  async check(context: ExecutionContext, request: TargetedRequest & { user?: object }): Promise<void> {
    // The next gate reads the header of a request without a ticket, perhaps after the gate of another credential.
    if (!presentedBy(request).tickets.length) return;
    for (const [name, value] of Object.entries(HEADERS))
      this.adapterHost.httpAdapter.setHeader(context.switchToHttp().getResponse(), name, value);
    request.user = (await this.tickets.redeem(request)).user;
  }
}

/**
 * Requires a valid access token, as `@Authenticated()` does, or in its place a ticket in the URL: see `auth.tickets.issue`. For a
 * single route with `@Get()` or `@Sse()`; any other route is refused at the start. Further requirements, such as abilities, apply as
 * always.
 *
 * @param guard name of the guard whose tokens are accepted; the default guard when omitted
 * @example \@Get('orders/:id/file')
 * \@AcceptsTicket()
 * file(\@CurrentUser() user: User) {}
 * @publicApi
 */
export const AcceptsTicket = (guard?: string): MethodDecorator =>
  applyDecorators(
    ...(guard === undefined ? [] : [manifest.GuardName(guard)]),
    http.requires(TicketGate, http.AuthenticationGate),
  );
