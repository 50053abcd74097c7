import type { INestApplicationContext, Type } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { type Mail, Mailer } from '../../foundation/ports/mail';

/**
 * Waits until `find` has a result: work that follows the response of a request takes some time.
 *
 * @throws Error with the text of `missing` after this number of seconds
 */
async function waitFor<T>(find: () => T | undefined, missing: () => string, seconds = 5): Promise<T> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(missing());
    await sleep(10);
  }
}

/**
 * Records the events of an application from its construction on: those of the given classes; without classes, all.
 *
 * @example
 * const events = new EventRecorder(app);
 * expect(events.names).toEqual(['SessionStarted']);
 * expect(events.of(Registered)).toHaveLength(1);
 * @publicApi
 */
export class EventRecorder {
  /** All recorded events in order. */
  readonly all: object[] = [];

  constructor(app: INestApplicationContext, ...classes: readonly Type<object>[]) {
    const events = app.get(AuthEvents, { strict: false });
    const record = (event: object): unknown => this.all.push(event);
    if (!classes.length) events.onEvery(record);
    for (const eventClass of classes) events.on(eventClass, record);
  }

  /** The class names of the recorded events in order. */
  get names(): string[] {
    return this.all.map((event) => event.constructor.name);
  }

  of<E extends object>(event: Type<E>): E[] {
    return this.all.filter((recorded): recorded is E => recorded instanceof event);
  }

  /**
   * Waits for the first recorded event of this class that `matches`: some events follow the response of their request.
   *
   * @param seconds how long; default 5
   * @throws Error with the names of the recorded events if there is none until then
   */
  waitFor<E extends object>(event: Type<E>, matches: (event: E) => boolean = () => true, seconds = 5): Promise<E> {
    const missing = (): string => `no such ${event.name}; recorded: ${this.names.join(', ') || 'nothing'}`;
    return waitFor(() => this.of(event).find(matches), missing, seconds);
  }

  /** Forgets the events that were recorded so far. */
  clear(): void {
    this.all.length = 0;
  }
}

/**
 * Records mails instead of sending them: `mail: { mailer: new MailRecorder() }`.
 *
 * @publicApi
 */
export class MailRecorder extends Mailer {
  readonly mails: Mail[] = [];

  async send(mail: Mail): Promise<void> {
    this.mails.push(mail);
  }

  /** Waits for the mail with this number, counted from 1. Mails are sent after the response. */
  nth(number: number): Promise<Mail> {
    return this.found(() => this.mails[number - 1]);
  }

  /** Waits for the first mail to this address. */
  to(address: string): Promise<Mail> {
    return this.found(() => this.mails.find(({ to }) => to === address));
  }

  private found(find: () => Mail | undefined): Promise<Mail> {
    return waitFor(find, () => `the mail did not arrive; ${this.mails.length} mails were recorded`);
  }
}

/**
 * The first link in the text of a mail.
 *
 * @throws Error with the text of a mail that has no link
 * @publicApi
 */
export function linkIn({ text }: Mail): URL {
  const [link] = /https?:\S+/.exec(text) ?? [];
  if (!link) throw new Error(`the mail has no link: ${text}`);
  return new URL(link);
}
