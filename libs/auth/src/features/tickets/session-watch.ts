import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { EventEmitter } from 'node:events';
import { Clock, Realm, errors, event, identity, session } from '../../kit';

/** Milliseconds between two checks of the sessions whose streams are open. */
const CHECK_MS = 5_000;

/** The largest number of sessions that are checked at once. */
const AT_ONCE = 1_000;

type Closing = Pick<EventEmitter, 'once' | 'off'>;

/** A response of Node, Express or Fastify, a socket, or another object that emits `close`. */
export type Stream = Closing | { readonly raw: Closing };

interface Watch {
  readonly caller: identity.Caller;
  readonly controller: AbortController;
  readonly stream: Closing;
  readonly onClose: () => void;
}

/** Ends the streams of sessions that have ended. One timer serves all of a guard; it runs while a stream is open. */
@Injectable()
export class SessionWatch implements OnModuleDestroy {
  private readonly watches = new Set<Watch>();
  private timer: NodeJS.Timeout | undefined;
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly denylist: identity.Denylist,
    private readonly endedSessions: identity.EndedSessions,
    private readonly events: event.AuthEvents,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /** See `Tickets.untilEnded`. */
  until(caller: identity.Caller, stream: Stream): AbortSignal {
    const watch: Watch = {
      caller,
      controller: new AbortController(),
      // The reply of Fastify wraps the response of Node.
      stream: 'once' in stream ? stream : stream.raw,
      onClose: () => this.release(watch),
    };
    this.watches.add(watch);
    watch.stream.once('close', watch.onClose);
    this.stopListening ??= this.events.on(session.SessionEnded, (ended) => this.onEnded(ended));
    this.schedule();
    // The session may have ended since the request was authenticated.
    void this.check([watch]);
    return watch.controller.signal;
  }

  onModuleDestroy(): void {
    for (const watch of this.watches) this.release(watch);
  }

  private release(watch: Watch): void {
    this.watches.delete(watch);
    watch.stream.off('close', watch.onClose);
    if (this.watches.size) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.stopListening?.();
    this.stopListening = undefined;
  }

  private end(watch: Watch): void {
    if (!this.watches.has(watch)) return;
    this.release(watch);
    watch.controller.abort(new errors.Unauthenticated(true).withReason('revoked_token', watch.caller.userId));
  }

  private onEnded({ guard, familyId }: session.SessionEnded): void {
    if (guard !== this.realm.guard) return;
    for (const watch of this.watches) if (watch.caller.familyId === familyId) this.end(watch);
  }

  /** Each check begins after the one before it, which a slow store can delay. */
  private schedule(): void {
    this.timer ??= setTimeout(() => void this.checkAll(), CHECK_MS).unref();
  }

  private async checkAll(): Promise<void> {
    this.timer = undefined;
    const all = [...this.watches];
    for (let at = 0; at < all.length; at += AT_ONCE) await this.check(all.slice(at, at + AT_ONCE));
    if (this.watches.size) this.schedule();
  }

  /** The reads of one tick share a round trip to each store. */
  private async check(watches: readonly Watch[]): Promise<void> {
    await Promise.all(
      watches.map(async (watch) => {
        if (await this.isEnded(watch.caller)) this.end(watch);
      }),
    );
  }

  private async isEnded({ claims, familyId }: identity.Caller): Promise<boolean> {
    if (identity.isOver(claims, this.realm.options.leeway, this.clock.seconds())) return true;
    try {
      const [stored, ended] = await Promise.all([this.denylist.read(claims), this.endedSessions.has(familyId)]);
      return identity.denylistVerdict({ ...stored, ended }) === 'ended';
    } catch {
      // An outage must not end every stream at once. The token of the caller limits how long they stay open.
      return false;
    }
  }
}
