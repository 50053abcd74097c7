import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import type { Tokens } from '../../support/hosts/app';
import { type Mailbox, member, startMembers } from '../../support/hosts/members';
import { PASSKEYS } from '../../support/flows/passkeys';
import { PASSWORD } from '../../support/hosts/user-entities';
import { sharedRedisUrl } from '../../support/stores/with-redis';
import { BrokenNode } from './broken-node';

/** The result of a run. */
export interface MixedLoad {
  requests: number;
  faults: number;
  statuses: Record<number, number>;
  improper: string[];
  /** The number of inspected keys, and the keys without an expiry. */
  keys: number;
  lasting: string[];
  /** The heap in megabytes after garbage collection, one sample per `sampleMs`. */
  heap: number[];
}

const CLIENTS = 8;
const CHOSEN = { password: 'another horse entirely', password_confirmation: 'another horse entirely' };

/** Runs all client operations for a while, with a fault in one of a hundred requests. */
export async function loadFor(isOver: (requests: number) => boolean, sampleMs = Infinity): Promise<MixedLoad> {
  const keyPrefix = `load:${randomUUID()}:`;
  let mailbox!: Mailbox;
  const node = await BrokenNode.start(async (stores) => {
    const features = { ...PASSKEYS.features, twoFactor: true };
    const started = await startMembers({ ...PASSKEYS, keyPrefix, features, lockout: { maxAttempts: 100 } }, stores);
    mailbox = started.mailbox;
    return started.t;
  });
  const result: MixedLoad = { requests: 0, faults: 0, statuses: {}, improper: [], keys: 0, lasting: [], heap: [] };
  const over = () => isOver(result.requests);
  const sampling = sample(result, sampleMs, over);
  const emails = Array.from({ length: CLIENTS }, (_, i) => `client-${i}@example.com`);
  await Promise.all(emails.map((email) => member(node.t, email)));
  // Every client has signed in before the first fault.
  const signedIn = await Promise.all(emails.map((email) => node.t.session(email)));
  await Promise.all(emails.map((email, i) => client(node, mailbox, email, signedIn[i]!, result, over)));
  await sampling;
  await checkKeys(keyPrefix, result);
  await node.stop();
  return result;
}

async function client(
  node: BrokenNode,
  mailbox: Mailbox,
  email: string,
  signedIn: Tokens,
  result: MixedLoad,
  over: () => boolean,
) {
  let tokens = signedIn;
  const call = async (method: string, path: string, body?: object, token?: string) => {
    if (randomInt(100) === 0) disturb(node, result);
    const answer = await node.call(method, path, body, token);
    result.requests++;
    result.statuses[answer.status] = (result.statuses[answer.status] ?? 0) + 1;
    if (answer.status >= 500 && answer.status !== 503) result.improper.push(`${method} ${path} ${answer.status}`);
    return answer;
  };
  const login = async (): Promise<void> => {
    const { status, body } = await call('POST', '/auth/login', { email, password: PASSWORD });
    if (status === 200) tokens = body as never;
  };
  const operations = [
    () => call('GET', '/private', undefined, tokens.access_token),
    () => call('GET', '/auth/sessions', undefined, tokens.access_token),
    async () => {
      const { status, body } = await call('POST', '/auth/refresh', tokens);
      if (status === 200) tokens = body as never;
    },
    login,
    async () => {
      await call('POST', '/auth/logout', undefined, tokens.access_token);
      await login();
    },
    () => call('POST', '/auth/login', { email, password: 'wrong' }),
    () => call('POST', '/auth/confirm-password', { password: PASSWORD }, tokens.access_token),
    () => call('POST', '/auth/passkeys/login-options'),
    () => call('POST', '/auth/forgot-password', { email }),
    () => call('POST', '/auth/reset-password', { email, token: 'f'.repeat(64), ...CHOSEN }),
    async () => {
      const newUser = { name: 'Bob', email: `${randomUUID()}@example.com`, ...CHOSEN };
      const { body } = await call('POST', '/auth/register', newUser);
      if (body.access_token) await call('GET', '/auth/account/export', undefined, body.access_token);
    },
  ];
  while (!over()) {
    await operations[randomInt(operations.length)]!();
    // Recorded mails would count as memory of the application.
    mailbox.mails.length = 0;
  }
}

function disturb(node: BrokenNode, result: MixedLoad): void {
  const proxy = [node.redis, node.postgres][randomInt(2)]!;
  result.faults++;
  if (randomInt(2)) return proxy.cut();
  proxy.hang();
  setTimeout(() => proxy.heal(), randomInt(300));
}

async function sample(result: MixedLoad, everyMs: number, over: () => boolean): Promise<void> {
  if (everyMs === Infinity) return;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  while (!over()) {
    await sleep(everyMs);
    collect();
    result.heap.push(Math.round(process.memoryUsage().heapUsed / 1e5) / 10);
  }
}

/** Requires that every key of the library expires. */
async function checkKeys(keyPrefix: string, result: MixedLoad): Promise<void> {
  const { client: redis } = await redisCache(sharedRedisUrl()!);
  for await (const key of redis.scanIterator({ MATCH: `${keyPrefix}*`, COUNT: 1000 })) {
    result.keys++;
    if ((await redis.pTTL(key)) === -1) result.lasting.push(key.slice(keyPrefix.length));
  }
  await redis.disconnect();
}
