import { Injectable, Logger, type Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { EventEmitter } from 'node:events';
import { BackgroundWork } from './deadline';
import { optionalPeer } from './optional-peer';

/** A second destination of events, after the listeners of {@link AuthEvents}. `EventEmitter2` has this shape. */
export interface EventSink {
  emit(name: string, event: object): unknown;
  /** Emits the event and resolves when all listeners have finished. */
  emitAsync?(name: string, event: object): Promise<unknown>;
}

/** The listeners of every event. */
const EVERY = Symbol('every');

/**
 * Emits the events of the library to the host. Every event is a class. Its name states a past fact; the exception is
 * `AccountDeleting`, which is emitted before the deletion.
 *
 * Listeners run outside every lock and transaction. A request does not wait for them. An error of a listener is logged
 * and has no other effect. `AccountDeleting` is different: the deletion waits for its listeners, and a listener that
 * throws prevents the deletion.
 * With `@nestjs/event-emitter` in the host, `@OnEvent(AccountLocked.name)` receives the same objects.
 *
 * @publicApi
 */
@Injectable()
export class AuthEvents {
  private readonly logger = new Logger(AuthEvents.name);
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private sink?: EventSink;

  constructor(private readonly background: BackgroundWork) {}

  /** Calls `listener` for every event of this class. Returns a function that removes the listener. */
  on<E extends object>(event: Type<E>, listener: (event: E) => unknown): () => void {
    this.emitter.on(event.name, listener);
    return () => this.emitter.off(event.name, listener);
  }

  /** Calls `listener` for every event. Returns a function that removes the listener. @internal */
  onEvery(listener: (event: object) => unknown): () => void {
    this.emitter.on(EVERY, listener);
    return () => this.emitter.off(EVERY, listener);
  }

  /** Calls every listener without waiting for it. Errors of listeners are logged. */
  emit(event: object): void {
    const name = event.constructor.name;
    for (const listener of this.listeners(name)) this.guarded(name, () => listener(event));
    this.guarded(name, () => this.forward(name, event));
  }

  /** Calls the listeners one after the other and waits for each. Rejects with the first error of a listener. */
  async announce(event: object): Promise<void> {
    const name = event.constructor.name;
    for (const listener of this.listeners(name)) await listener(event);
    await this.forward(name, event);
  }

  /** @internal */
  forwardTo(sink: EventSink): void {
    this.sink = sink;
  }

  /** A sink without `emitAsync` receives the event too. It can still reject it by a synchronous throw. */
  private forward(name: string, event: object): unknown {
    const { sink } = this;
    return (sink?.emitAsync ?? sink?.emit)?.call(sink, name, event);
  }

  private listeners(name: string): Function[] {
    return [...this.emitter.listeners(name), ...this.emitter.listeners(EVERY)];
  }

  private guarded(name: string, call: () => unknown): void {
    const report = (error: unknown): void => this.logger.error(`a listener of ${name} failed`, (error as Error)?.stack);
    try {
      const result = call() as PromiseLike<unknown> | undefined;
      if (typeof result?.then === 'function') this.background.add(Promise.resolve(result).catch(report));
    } catch (error) {
      report(error);
    }
  }
}

/** Also delivers events through `@nestjs/event-emitter` when the host imports it. */
export function forwardEvents(events: AuthEvents, moduleRef: ModuleRef): void {
  const token = optionalPeer<{ EventEmitter2: Type<EventSink> }>('@nestjs/event-emitter')?.EventEmitter2;
  if (!token) return;
  try {
    events.forwardTo(moduleRef.get(token, { strict: false }));
  } catch {
    // The package is installed, but its module is not imported: the host listens through AuthEvents only.
  }
}
