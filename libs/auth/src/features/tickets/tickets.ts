import { Injectable } from '@nestjs/common';
import { ApplicationConfig, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { Clock, Realm, SecurityStore, crypto, deadline, errors, http, identity, pg } from '../../kit';
import { SessionWatch, type Stream } from './session-watch';
import { LONGEST, type TicketUse, acceptableTicket, isFor, isLife, presentedIn, targetOf } from './ticket.policy';

/** What a ticket stands for. */
interface StoredTicket extends TicketUse {
  /** The claims of the access token of its caller. */
  readonly claims: identity.AccessClaims;
  readonly repeatable: boolean;
}

/** What the adapters and Node have of a request. */
export interface TargetedRequest extends identity.Credentialed {
  readonly method?: string;
  readonly url?: string;
  /** The target as received, in Express and Fastify. */
  readonly originalUrl?: string;
  /** As the adapter has parsed it. */
  readonly query?: unknown;
}

/** The target of a request as received. Fastify keeps its first reading of it, so Node's request is read, which can change. */
export function presentedBy(request: TargetedRequest): ReturnType<typeof presentedIn> {
  const { originalUrl, url = '' } = (request.raw as TargetedRequest | undefined) ?? request;
  return presentedIn(originalUrl ?? url);
}

/**
 * Tickets for requests that send no header, and the end of streams.
 *
 * A browser sends no `Authorization` header with an `EventSource`, a link, an image or the handshake of a `WebSocket`. A ticket
 * stands for the access token of a caller in the parameter `ticket` of one URL.
 *
 * @publicApi
 */
@Injectable()
export class Tickets {
  private readonly libraryPaths = pg.once(() =>
    http
      .libraryRoutes(this.modules, new MetadataScanner(), this.application.getGlobalPrefix())
      .map(({ pattern }) => pattern),
  );

  constructor(
    private readonly store: SecurityStore,
    private readonly authenticator: identity.Authenticator,
    private readonly watch: SessionWatch,
    private readonly clock: Clock,
    private readonly realm: Realm,
    private readonly application: ApplicationConfig,
    private readonly modules: ModulesContainer,
  ) {}

  /**
   * Issues a ticket for a `GET` request of the caller to one URL. Add it to the query of this URL as `ticket`; the route needs
   * `@AcceptsTicket()`, or calls {@link redeem}. Only its SHA-256 hash is stored. It ends with the session of the caller.
   *
   * @param ticket.for the path and the query of the request, as the application receives them: `/orders/7/file?format=pdf`. They
   * must be the same in the request. Encode what comes from a client with `encodeURIComponent`
   * @param ticket.seconds for which it is valid: 1 to 60
   * @param ticket.repeatable whether several requests can use it, such as those of a video; by default only one
   * @throws Unauthenticated for a caller of another guard, or with an expired token; StoreUnavailable; AuthConfigError for a target
   * or a number of seconds that no ticket can have, and for a route of the library
   */
  async issue(
    caller: identity.Caller,
    { for: of, seconds, repeatable = false }: { for: string; seconds: number; repeatable?: boolean },
  ): Promise<string> {
    const { guard, options } = this.realm;
    const target = targetOf(of);
    if (target === null)
      throw new errors.AuthConfigError(
        'A ticket is for a path with an optional query, such as /orders/7/file?format=pdf, without origin, fragment and ticket.',
      );
    if (!isLife(seconds)) throw new errors.AuthConfigError(`A ticket is valid for 1 to ${LONGEST} whole seconds.`);
    if (this.isOfLibrary(target)) throw new errors.AuthConfigError('A route of @svc/auth accepts no ticket.');
    if (caller.guard !== guard) throw new errors.Unauthenticated(true).withReason('invalid_token', caller.userId);
    // A gateway may have kept the caller of an earlier message, whose claims are too old.
    if (identity.isOver(caller.claims, options.leeway, this.clock.seconds()))
      throw new errors.Unauthenticated(true).withReason('expired_token', caller.userId);
    const ticket = crypto.newSecret();
    const stored: StoredTicket = { guard, target, claims: caller.claims, repeatable };
    await this.store.setMany([keyOf(ticket)], JSON.stringify(stored), seconds);
    return ticket;
  }

  /**
   * Authenticates a request that may have a ticket, for code that no guard protects, such as `handleConnection` of a gateway. An
   * `Authorization` header decides alone. The caller is recorded on the request, and the ticket is removed from its URL and query.
   *
   * @param request of Express, of Fastify or of Node
   * @throws Unauthenticated without a credential, and for one that is not accepted; StoreUnavailable if it cannot be checked
   */
  async redeem(request: object): Promise<identity.Caller> {
    const { tickets, target } = presentedBy(request);
    removeTickets(request);
    try {
      const byHeader = await this.authenticator.authenticateIfAsked(request);
      if (byHeader) return byHeader;
      if (!tickets.length) return await this.authenticator.authenticate(request);
      const ticket = acceptableTicket((request as TargetedRequest).method, tickets);
      return identity.recordCaller(request, await this.callerBy(ticket, target));
    } catch (error) {
      throw deadline.isUnavailable(error)
        ? http.refusalOf(error).translatedBy(this.realm.translatorFor(request))
        : error;
    }
  }

  /**
   * A signal that aborts when the session of a caller ends, to end what the caller has open. In this process it aborts at once,
   * after an end by another process within some seconds. It also aborts when the access token of the caller has expired: the client
   * opens the stream again with a new one. While a store cannot be reached, the signal waits. Its `reason` is the `Unauthenticated`
   * of a request.
   *
   * @param stream the response or the socket that is open. When it closes, the signal is released, and does not abort any
   * more. One that has closed before the call is released when the token expires
   * @throws AuthConfigError for a caller without an access token, such as one with an access key: no session ends the stream
   */
  untilEnded(caller: identity.Caller, stream: Stream): AbortSignal {
    if (identity.credentialGateOf(caller))
      throw new errors.AuthConfigError(
        'untilEnded() ends a stream with the session or the access token of its caller. This caller has another credential, such as ' +
          'an access key: refuse it at the route, or end the stream after a time.',
      );
    return this.watch.until(caller, stream);
  }

  /** Reads a ticket before it is used up: a request for another path must not use it. */
  private async callerBy(ticket: string | null, target: string): Promise<identity.Caller> {
    const key = ticket !== null && !this.isOfLibrary(target) ? keyOf(ticket) : null;
    const [text = null] = key === null ? [] : await this.store.getMany([key]);
    const stored = text === null ? null : (JSON.parse(text) as StoredTicket);
    if (key === null || !stored || !isFor(stored, { guard: this.realm.guard, target })) throw refused();
    const caller = await this.authenticator.callerFor(stored.claims);
    // Of several requests at once, one gets it.
    if (!stored.repeatable && (await this.store.take(key)) === null) throw refused(caller.userId);
    return caller;
  }

  private isOfLibrary(target: string): boolean {
    const path = http.pathOf(target);
    return this.libraryPaths().some((pattern) => pattern.test(path));
  }
}

const refused = (userId?: string): errors.AuthException =>
  new errors.Unauthenticated(true).withReason('invalid_ticket', userId);

const keyOf = (ticket: string): string => `svc:ticket:${crypto.sha256(ticket)}`;

/**
 * Removes the tickets from a request, so that what runs later does not log them. Fastify reads its URL from Node's request, and
 * Express reads the query from the URL.
 */
function removeTickets(request: { raw?: object; query?: unknown }): void {
  for (const holder of [request, request.raw ?? {}] as Record<string, unknown>[])
    for (const name of ['url', 'originalUrl']) {
      const own = Object.getOwnPropertyDescriptor(holder, name);
      if (own?.writable && typeof own.value === 'string') holder[name] = presentedIn(own.value).target;
    }
  const { query } = request;
  if (typeof query === 'object' && query !== null) delete (query as { ticket?: unknown }).ticket;
}
