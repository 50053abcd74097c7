// Sends the requests of a day as fast as possible, and measures whether memory stays flat.
import type { Retained } from './apps/counting';
import { PEOPLE, type Tokens } from './apps/serve';
import { type ChurnSample, report } from './churn/report';
import { Cleanup } from './cleanup';
import { Client } from './growth/client';
import { publish } from './page';
import { Server } from './server';
import { readSettings, readSizes } from './settings';
import { hashCheaply, personOf, startStores } from './stores';

const SIGN_INS = 20_000;
const PARTS = 10;
const GUARDED = 3;
const REFRESHES = 2;

async function main(cleanup: Cleanup): Promise<void> {
  const [signIns] = readSizes(SIGN_INS);
  const { connections } = readSettings({ BENCH_CONNECTIONS: '20', ...process.env });
  cleanup.deadline(120 + signIns / 20);
  const stores = await startStores(cleanup);
  await hashCheaply(stores);
  const server = await Server.start('ours', stores, cleanup, {
    BENCH_CHURN: 'true',
    BENCH_HASHING: 'cheapest',
    BENCH_PROXY: 'true',
    BENCH_QUIET: 'true',
  });
  const client = new Client(server.url, connections);
  cleanup.add(() => client.close());
  const visits = new Visits(client);

  const samples: ChurnSample[] = [];
  for (let part = 0; part < PARTS; part++) {
    const last = Math.round((signIns * (part + 1)) / PARTS);
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (visits.begun < last) await visits.next();
      }),
    );
    await server.rest();
    const memory = await server.get<Retained>('/bench-stats/memory');
    samples.push({ ...memory, signIns: visits.begun, requests: visits.requests });
    process.stderr.write(`${visits.begun} of ${signIns} sign-ins, heap ${(memory.heapUsed / 1e6).toFixed(2)} MB\n`);
  }
  await publish('churn', report(samples, connections));
}

/** Visits of users, one after the other: each from another client address. */
class Visits {
  begun = 0;
  requests = 0;

  constructor(private readonly client: Client) {}

  /** A sign-in after wrong ones, then guarded requests, refreshes, and in four of five visits a logout. */
  async next(): Promise<void> {
    const visit = this.begun++;
    const from = `10.${(visit >> 16) & 255}.${(visit >> 8) & 255}.${visit & 255}`;
    const { email, password } = personOf((visit % PEOPLE) + 1);
    await this.post(422, '/auth/login', { email: `nobody-${visit}@example.com`, password }, from);
    await this.post(422, '/auth/login', { email, password: 'wrong-horse-battery' }, from);
    if (visit % 10 === 0) await this.post(200, '/auth/forgot-password', { email }, from);
    if (visit % 10 === 5) await this.post(202, '/auth/login/code', { email }, from);
    let tokens: Tokens = await this.post(200, '/auth/login', { email, password }, from);
    for (let i = 0; i < REFRESHES; i++) {
      for (let sent = 0; sent < GUARDED; sent++) await this.send(200, 'GET', '/guarded', tokens, undefined, from);
      tokens = await this.post(200, '/auth/refresh', { refresh_token: tokens.refresh_token }, from);
    }
    // Some users close the page without a logout.
    if (visit % 5 === 0) return;
    await this.send(204, 'POST', '/auth/logout', tokens, {}, from);
    await this.send(401, 'GET', '/guarded', tokens, undefined, from);
  }

  private async post<T>(status: number, path: string, body: object, from: string): Promise<T> {
    return JSON.parse((await this.send(status, 'POST', path, undefined, body, from)) || 'null') as T;
  }

  private async send(
    status: number,
    method: string,
    path: string,
    tokens: Tokens | undefined,
    body: object | undefined,
    from: string,
  ): Promise<string> {
    this.requests++;
    const sent = { from, ...(body && { body }), ...(tokens && { token: tokens.access_token }) };
    return (await this.client.expect(status, method, path, sent)).text;
  }
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
