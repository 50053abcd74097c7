import type { Cleanup } from '../cleanup';
import { Server } from '../server';
import type { Stores } from '../stores';
import type { Tokens } from '../apps/serve';
import { type Answer, Client } from './client';
import type { Filled } from './fill';

/** Access tokens that are kept for guarded requests: of so many sessions, one after the other. */
const KEPT = 5000;

/** One size of the tables: a database, the server in front of it, and the tokens of its sessions. */
export class Deployment {
  /** Of the sessions that were refreshed last. */
  private readonly access: string[] = [];
  private asked = 0;
  /** Refreshes that were answered. */
  refreshed = 0;

  private constructor(
    readonly filled: Filled,
    readonly server: Server,
    readonly stores: Stores,
    readonly client: Client,
  ) {}

  static async start(filled: Filled, stores: Stores, connections: number, cleanup: Cleanup): Promise<Deployment> {
    const own = { ...stores, databaseUrl: filled.url };
    const server = await Server.start('ours', own, cleanup, { BENCH_QUIET: '1' });
    const client = new Client(server.url, connections);
    cleanup.add(() => client.close());
    return new Deployment(filled, server, own, client);
  }

  /** Refreshes the session whose turn it is: each of them once, before the first one comes again. */
  refresh = async (): Promise<Answer> => {
    const refresh_token = this.filled.tokens.shift();
    if (!refresh_token) throw new Error('every session is being refreshed already');
    const { answer, next } = await this.exchange(refresh_token);
    this.filled.tokens.push(next);
    return answer;
  };

  /** Exchanges a refresh token for the next one. */
  async exchange(refresh_token: string): Promise<{ answer: Answer; next: string }> {
    const answer = await this.client.expect(200, 'POST', '/auth/refresh', { body: { refresh_token } });
    const next = JSON.parse(answer.text) as Tokens;
    this.access[this.refreshed++ % KEPT] = next.access_token;
    return { answer, next: next.refresh_token };
  }

  /** A guarded request of one of the sessions that were refreshed, another one each time. */
  guarded = (): Promise<Answer> => {
    const token = this.access[this.asked++ % this.access.length];
    return this.client.expect(200, 'GET', '/guarded', { token });
  };
}
