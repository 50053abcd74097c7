import { Injectable, Logger, type Type } from '@nestjs/common';
import { EventEmitter } from 'node:events';

/** Where events go besides the library's own listeners; `@nestjs/event-emitter` has this shape. */
export interface EventSink {
  emit(name: string, event: object): unknown;
  /** Waits for the listeners. */
  emitAsync?(name: string, event: object): Promise<unknown>;
}

/**
 * Tells the host what happened. Every event is a class named as a past fact.
 *
 * Listeners run after the fact and outside every lock; one that throws is logged and changes nothing.
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
    await this.sink?.emitAsync?.(name, event);
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
