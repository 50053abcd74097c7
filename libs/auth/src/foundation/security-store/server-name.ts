import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisClient } from './redis-client';
import { UNNAMED } from './security-store';

/**
 * Names the server process that gave this answer to `INFO server` and `INFO replication`, and the history of its
 * data: `master_replid` changes where a process takes over the data of another one, which `run_id` survives. Null
 * for a replica, whose data is older than what was written. Empty where the answer names nothing.
 */
export function serverNameIn(info: string): string | null {
  const field = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? '';
  if (field('role') === 'slave') return null;
  return [field('run_id'), field('master_replid')].filter(Boolean).join(':');
}

const RETRY_MS = 100;

/** What a server answers that lets nobody ask, or does not know the command. */
const REFUSED = /^(NOPERM|ERR)\b/;

/** Knows which server process is at the other end of a client's connection. */
export class ServerName {
  /** Null while it is not known. */
  name: string | null = null;
  /** Names the connection. */
  private connection: string = randomUUID();
  /** The connection that is being asked over in the background. */
  private learning?: string;

  constructor(readonly client: RedisClient) {
    // At `error`, too: node-redis sends what waits in its queue over a new connection before that is ready.
    client.on('error', () => this.changed());
    client.on('ready', () => this.changed());
    void this.learn();
  }

  /** Unknown from now on, and asked for in the background. */
  forget(): void {
    this.name = null;
    void this.learn();
  }

  async ask(): Promise<void> {
    const { connection } = this;
    const name = serverNameIn(await this.info());
    // The answer of a former connection says nothing of this one.
    if (this.connection === connection) this.name = name === '' ? UNNAMED : name;
  }

  private changed(): void {
    this.connection = randomUUID();
    this.forget();
  }

  /** Asks until there is a name, or no connection to ask over. Never throws. */
  private async learn(): Promise<void> {
    const { connection } = this;
    if (this.learning === connection) return;
    this.learning = connection;
    while (this.connection === connection && this.name === null && this.client.isReady !== false) {
      await this.ask().catch(() => undefined);
      if (this.name === null) await sleep(RETRY_MS, undefined, { ref: false });
    }
    if (this.learning === connection) this.learning = undefined;
  }

  private async info(): Promise<string> {
    try {
      // In one pipeline. A single INFO with two sections is unknown to Redis 6.
      const sections = ['server', 'replication'].map((section) => this.client.sendCommand(['INFO', section]));
      return (await Promise.all(sections)).join('\n');
    } catch (error) {
      if (REFUSED.test((error as Error).message)) return '';
      throw error;
    }
  }
}

/** Knows which server process is behind a client, a pool or a sentinel object. */
export class ServerNames {
  private readonly names = new Map<RedisClient, ServerName>();

  /**
   * The name that all connections agree on; null while they do not, or one is not known. A command that was given to
   * one of them before it broke may be answered over the next one, so each counts until it is closed.
   */
  get common(): string | null {
    const [first, ...others] = this.open();
    return first && others.every(({ name }) => name === first.name) ? first.name : null;
  }

  /** To be called before a command is given to a client: its server is asked first. */
  watch(client: RedisClient): void {
    if (this.names.has(client)) return;
    for (const known of this.names.keys()) if (known.isOpen === false) this.names.delete(known);
    this.names.set(client, new ServerName(client));
  }

  /** Asks every connection again. */
  async ask(): Promise<void> {
    await Promise.all(this.open().map((server) => server.ask()));
  }

  forget(): void {
    for (const server of this.open()) server.forget();
  }

  private open(): ServerName[] {
    return [...this.names.values()].filter(({ client }) => client.isOpen !== false);
  }
}
