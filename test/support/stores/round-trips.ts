import { SecurityStore } from '@svc/auth';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import type { TestApp } from '../hosts/app';

/** A message to a store for which a request waits. */
export interface RoundTrip {
  readonly store: 'PostgreSQL' | 'Redis';
  /** The statement, or the command. */
  readonly text: string;
  /** Its position in the row: messages that are sent before the answer of each other have the same one. */
  readonly step: number;
}

/** More turns of the event loop than a connection of the pool and a batch of look-ups need. */
const TURNS = 25;

/**
 * The messages of one request, until its response. All stores are equally far away: the answers to all messages of a step arrive
 * together, when the request sends nothing more without them. So neither the duration of a statement nor the speed of the
 * machine decides the number of steps.
 */
class Recording {
  readonly trips: RoundTrip[] = [];
  isOver = false;
  private step = 1;
  private unanswered = 0;
  private arrival?: Promise<void>;

  async trip<T>(store: RoundTrip['store'], text: string, call: () => Promise<T>): Promise<T> {
    if (!this.isOver) this.trips.push({ store, text, step: this.step });
    this.unanswered++;
    try {
      return await call();
    } finally {
      this.unanswered--;
      await (this.arrival ??= this.arrive());
    }
  }

  private async arrive(): Promise<void> {
    for (let quiet = 0; quiet < TURNS; quiet = this.unanswered === 0 ? quiet + 1 : 0) await nextTurn();
    this.arrival = undefined;
    this.step++;
  }
}

const current = new AsyncLocalStorage<Recording>();

type Call = (this: unknown, ...args: unknown[]) => unknown;

/** The recordings of the last requests. */
const lastOf = new WeakMap<Server, Recording>();

/** Counts the messages to both stores for which requests wait one after the other, until the test ends. */
export class RoundTrips {
  private readonly server: Server;

  constructor(t: TestApp) {
    this.server = t.app.getHttpServer();
    if (!lastOf.has(this.server)) record(this.server);
    const query = Client.prototype.query as Call;
    jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
      const call = (): unknown => query.apply(this, args);
      const [first] = args as [string | { text: string }];
      const recording = current.getStore();
      const text = typeof first === 'string' ? first : first.text;
      return recording ? recording.trip('PostgreSQL', text, call as () => Promise<unknown>) : call();
    } as never);
    const client = Reflect.get(t.app.get(SecurityStore), 'client') as { sendCommand: Call };
    const send = client.sendCommand;
    jest.spyOn(client, 'sendCommand').mockImplementation(function (this: unknown, ...args: unknown[]) {
      const call = (): unknown => send.apply(this, args);
      const recording = current.getStore();
      const text = (args[0] as string[]).slice(0, 3).join(' ');
      return recording ? recording.trip('Redis', text, call as () => Promise<unknown>) : call();
    });
  }

  /** The messages for which the last request waited. */
  get trips(): readonly RoundTrip[] {
    return lastOf.get(this.server)?.trips ?? [];
  }

  /** How many of them the last request waited for one after the other. */
  get inARow(): number {
    return Math.max(0, ...this.trips.map(({ step }) => step));
  }
}

function record(server: Server): void {
  server.prependListener('request', (_request, response: ServerResponse) => {
    const recording = new Recording();
    lastOf.set(server, recording);
    response.once('finish', () => (recording.isOver = true));
    current.enterWith(recording);
  });
}
