import { randomInt } from 'node:crypto';
import type { Cleanup } from '../cleanup';
import { Server } from '../server';
import { ADA, type Stores } from '../stores';
import type { Tokens } from '../apps/serve';
import { type Answer, Client } from './client';
import type { Filled } from './fill';

/** The number of access tokens for guarded requests, each of a different session. */
const KEPT = 5000;

/** One size of the tables: a database, its server, and the tokens of its sessions. */
export class Deployment {
  /** Access tokens of the most recently refreshed sessions. */
  private readonly access: string[] = [];
  private asked = 0;
  /** The number of answered refreshes. */
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

  /** Refreshes the next session. Every session is refreshed once before the first one is refreshed again. */
  refresh = async (): Promise<Answer> => {
    const refresh_token = this.filled.tokens.shift();
    if (!refresh_token) throw new Error('every session has a pending refresh');
    const { answer, next } = await this.exchange(refresh_token);
    this.filled.tokens.push(next);
    return answer;
  };

  /** Signs a random user in, but none whose sessions will all be ended. Every user has the same password. */
  login = (): Promise<Answer> => {
    const { users, crowds } = this.filled;
    const body = { ...ADA, email: `person-${randomInt(1, users - crowds.length + 1)}@example.com` };
    return this.client.expect(200, 'POST', '/auth/login', { body });
  };

  /** Exchanges a refresh token for the next one. */
  async exchange(refresh_token: string): Promise<{ answer: Answer; next: string }> {
    const answer = await this.client.expect(200, 'POST', '/auth/refresh', { body: { refresh_token } });
    const next = JSON.parse(answer.text) as Tokens;
    this.access[this.refreshed++ % KEPT] = next.access_token;
    return { answer, next: next.refresh_token };
  }

  /** Sends a guarded request with the next of the refreshed sessions. */
  guarded = (): Promise<Answer> => {
    const token = this.access[this.asked++ % this.access.length];
    return this.client.expect(200, 'GET', '/guarded', { token });
  };
}
