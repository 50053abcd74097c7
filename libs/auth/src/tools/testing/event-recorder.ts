import type { INestApplicationContext, Type } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';

/**
 * Records every event of the given classes from its construction on.
 *
 * @example
 * const events = new EventRecorder(app, PasswordChanged, Registered);
 * expect(events.of(Registered)).toHaveLength(1);
 * @publicApi
 */
export class EventRecorder {
  /** All recorded events in order. */
  readonly all: object[] = [];

  constructor(app: INestApplicationContext, ...classes: readonly Type<object>[]) {
    const events = app.get(AuthEvents, { strict: false });
    for (const eventClass of classes) events.on(eventClass, (event) => this.all.push(event));
  }

  of<E extends object>(event: Type<E>): E[] {
    return this.all.filter((recorded): recorded is E => recorded instanceof event);
  }
}
