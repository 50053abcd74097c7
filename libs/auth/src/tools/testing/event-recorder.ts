import type { INestApplicationContext, Type } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';

/**
 * Keeps every event of some classes, from its beginning on.
 *
 * @example
 * const events = new EventRecorder(app, PasswordChanged, Registered);
 * expect(events.of(Registered)).toHaveLength(1);
 * @publicApi
 */
export class EventRecorder {
  /** Everything, in its order. */
  readonly all: object[] = [];

  constructor(app: INestApplicationContext, ...classes: readonly Type<object>[]) {
    const events = app.get(AuthEvents, { strict: false });
    for (const one of classes) events.on(one, (event) => this.all.push(event));
  }

  of<E extends object>(event: Type<E>): E[] {
    return this.all.filter((one): one is E => one instanceof event);
  }
}
