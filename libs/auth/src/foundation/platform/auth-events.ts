import { Injectable, Logger, type Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { EventEmitter } from 'node:events';
import { optionalPeer } from './optional-peer';

/** Where events go besides the library's own listeners; `@nestjs/event-emitter` has this shape. */
export interface EventSink {
  emit(name: string, event: object): unknown;
  /** Waits for the listeners. */
  emitAsync?(name: string, event: object): Promise<unknown>;
}

/**
 * Tells the host what happened. Every event is a class, named as a past fact; only `AccountDeleting` comes before it.
 *
 * Listeners run outside every lock and transaction. Nobody waits for them, and one that throws is logged and changes
 * nothing; those of `AccountDeleting` are waited for, and one that throws keeps the account.
 * With `@nestjs/event-emitter` in the host, `@OnEvent(AccountLocked.name)` receives the same objects.
 *
 * @publicApi
 */
@Injectable()
export class AuthEvents {
  private readonly logger = new Logger(AuthEvents.name);
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private sink?: EventSink;

  /** Calls `listener` for every event of this class. Returns a function that stops it. */
  on<E extends object>(event: Type<E>, listener: (event: E) => unknown): () => void {
    this.emitter.on(event.name, listener);
    return () => this.emitter.off(event.name, listener);
  }

  emit(event: object): void {
    const name = event.constructor.name;
    for (const listener of this.emitter.listeners(name)) this.guarded(name, () => listener(event));
    if (this.sink) this.guarded(name, () => this.sink?.emit(name, event));
  }

  /** Waits for every listener, one after the other; what one throws is thrown. For events that can be objected to. */
  async announce(event: object): Promise<void> {
    const name = event.constructor.name;
    for (const listener of this.emitter.listeners(name)) await listener(event);
    const { sink } = this;
    // One that cannot wait is told all the same, and can still object at once.
    await (sink?.emitAsync ?? sink?.emit)?.call(sink, name, event);
  }

  /** @internal */
  forwardTo(sink: EventSink): void {
    this.sink = sink;
  }

  private guarded(name: string, call: () => unknown): void {
    const report = (error: unknown): void => this.logger.error(`a listener of ${name} failed`, (error as Error)?.stack);
    try {
      Promise.resolve(call()).catch(report);
    } catch (error) {
      report(error);
    }
  }
}

/** Delivers events through `@nestjs/event-emitter` too, where the host has it. */
export function forwardEvents(events: AuthEvents, moduleRef: ModuleRef): void {
  const token = optionalPeer<{ EventEmitter2: Type<EventSink> }>('@nestjs/event-emitter')?.EventEmitter2;
  if (!token) return;
  try {
    events.forwardTo(moduleRef.get(token, { strict: false }));
  } catch {
    // Installed but not imported: the host listens through AuthEvents alone.
  }
}
