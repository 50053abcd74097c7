import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PASSWORD } from '../../support/hosts/user-entities';
import type { TcpProxy } from '../../support/faults/tcp-proxy';
import type { BrokenNode, Timed } from './broken-node';

/** The result of a run. Times in milliseconds. */
export interface FaultyRequests {
  requests: number;
  faults: number;
  statuses: Record<number, number>;
  /** Requests that were accepted although a logout had ended their session. */
  failedOpen: number;
  /** Refreshes of a live session that were answered as if it had ended. */
  loggedOut: number;
  /** Responses other than success, refusal, or 503 with `Retry-After`. */
  improper: string[];
  slowest: number;
  slowestRecovery: number;
  /** Whether the session of every client works at the end. */
  alive: boolean;
}

const ALLOWED = new Set([200, 204, 401, 422, 503]);
const CLIENTS = 10;
const LEAST_FAULTS = 5;

type Session = { access_token: string; refresh_token: string };

const kinds: ((proxy: TcpProxy) => void)[] = [
  (proxy) => proxy.down(),
  (proxy) => proxy.cut(),
  (proxy) => proxy.hang(),
  (proxy) => proxy.slow(randomInt(5, 60)),
  (proxy) => proxy.slow(900),
  (proxy) => proxy.resetAfter(randomInt(1, 400)),
  (proxy) => proxy.at(randomInt(1, 20), () => proxy.hang()),
];

/**
 * Sends requests from several clients while the stores fail and recover: until `total` requests are sent, five faults
 * have occurred and one of them was answered with 503.
 *
 * @param longestMs the maximum duration of a fault
 */
export async function sendThroughFaults(node: BrokenNode, total: number, longestMs = 1500): Promise<FaultyRequests> {
  const result: FaultyRequests = {
    requests: 0,
    faults: 0,
    statuses: {},
    failedOpen: 0,
    loggedOut: 0,
    improper: [],
    slowest: 0,
    slowestRecovery: 0,
    alive: true,
  };
  const emails = Array.from({ length: CLIENTS }, (_, i) => `client-${i}@example.com`);
  for (const email of emails) await node.t.person(email);
  const clients: Client[] = [];
  for (const email of emails) clients.push(await Client.start(node, email, result));
  const witness = await node.t.session(emails[0]);

  const ended = () => result.requests >= total && result.faults >= LEAST_FAULTS && result.statuses[503]! > 0;
  const breaking = breakStores(node, witness, result, longestMs, ended);
  await Promise.all(clients.map((client) => client.run(ended)));
  await breaking;
  for (const client of clients) result.alive &&= await client.isAlive();
  return result;
}

async function breakStores(
  node: BrokenNode,
  witness: Session,
  result: FaultyRequests,
  longestMs: number,
  ended: () => boolean,
): Promise<void> {
  while (!ended()) {
    const proxies = [[node.redis], [node.postgres], [node.redis, node.postgres]][randomInt(3)]!;
    for (const proxy of proxies) kinds[randomInt(kinds.length)]!(proxy);
    await sleep(randomInt(100, longestMs));
    node.heal();
    result.faults++;
    result.slowestRecovery = Math.max(result.slowestRecovery, await node.recovery(witness));
    await sleep(randomInt(50));
  }
}

/** A correct client: it keeps its session on 503, retries, and remembers the sessions that it has ended. */
class Client {
  private ended?: string;

  private constructor(
    private readonly node: BrokenNode,
    private readonly email: string,
    private readonly result: FaultyRequests,
    private session: Session,
  ) {}

  static async start(node: BrokenNode, email: string, result: FaultyRequests): Promise<Client> {
    return new Client(node, email, result, await node.t.session(email));
  }

  async run(isOver: () => boolean): Promise<void> {
    const operations = [
      this.readPrivate,
      this.readPrivate,
      this.readEnded,
      this.readEnded,
      this.refresh,
      this.refresh,
      this.guess,
      this.renew,
    ];
    while (!isOver()) await operations[randomInt(operations.length)]!.call(this);
  }

  async isAlive(): Promise<boolean> {
    const { status } = await this.node.call('POST', '/auth/refresh', this.session);
    return status === 200;
  }

  private async readPrivate(): Promise<void> {
    await this.call('GET', '/private', undefined, this.session.access_token);
  }

  private async readEnded(): Promise<void> {
    if (!this.ended) return this.renew();
    const { status } = await this.call('GET', '/private', undefined, this.ended);
    if (status === 200) this.result.failedOpen++;
  }

  private async refresh(): Promise<void> {
    const { status, body } = await this.call('POST', '/auth/refresh', this.session);
    if (status === 401) this.result.loggedOut++;
    if (status === 200) this.session = body as unknown as Session;
  }

  private async guess(): Promise<void> {
    await this.call('POST', '/auth/login', { email: this.email, password: 'wrong' });
  }

  /** Signs in again and ends the former session. */
  private async renew(): Promise<void> {
    const next = await this.call('POST', '/auth/login', { email: this.email, password: PASSWORD });
    if (next.status !== 200) return;
    const { access_token: token } = this.session;
    this.session = next.body as unknown as Session;
    const { status } = await this.call('POST', '/auth/logout', undefined, token);
    if (status === 204) this.ended = token;
  }

  private async call(method: string, path: string, body?: object, token?: string): Promise<Timed> {
    const answer = await this.node.call(method, path, body, token);
    const { status, ms, retryAfter } = answer;
    this.result.requests++;
    this.result.statuses[status] = (this.result.statuses[status] ?? 0) + 1;
    this.result.slowest = Math.max(this.result.slowest, ms);
    if (!ALLOWED.has(status) || (status === 503 && !retryAfter)) {
      this.result.improper.push(`${method} ${path} ${status} ${JSON.stringify(answer.body)}`);
    }
    return answer;
  }
}
