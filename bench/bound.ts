// Compares guarded requests that prove a key with those that do not, and with those of a server that binds no session.
import { type KeyObject, createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { PEOPLE, type Tokens } from './apps/serve';
import { Cleanup } from './cleanup';
import { bearer } from './groups/group';
import { type Connection, type Load, type Sample, sample } from './load';
import { guardedRequests, machine } from './markdown';
import { publish } from './page';
import { Server } from './server';
import { readSettings } from './settings';
import { median } from './statistics';
import { startStores } from './stores';

/** The address of the proofs. The server listens at another one. */
const ADDRESS = 'https://bench.test';

/** Requests of all connections in a second of a sample. A proof counts once, so that their number is fixed. */
const A_SECOND = 3000;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A client with a key for ES256. */
class Device {
  private readonly privateKey: KeyObject;
  private readonly header: string;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.privateKey = privateKey;
    this.header = encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) });
  }

  proof(htm: string, path: string, token?: string): string {
    const claims = {
      jti: randomUUID(),
      htm,
      htu: ADDRESS + path,
      iat: Math.floor(Date.now() / 1000),
      ...(token !== undefined && { ath: createHash('sha256').update(token).digest('base64url') }),
    };
    const signed = `${this.header}.${encoded(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }
}

/** Requests whose headers are made before the sample. Each connection has its own session. */
const prepared = (
  name: string,
  server: Server,
  open: (user: number) => Promise<() => Connection['headers']>,
): Load => ({
  name,
  server,
  method: 'GET',
  path: '/guarded',
  // The common warm-up lasts for a time, and would repeat proofs: `main` warms up with a sample.
  isScarce: true,
  connections: (count, seconds) =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const headers = await open((i % PEOPLE) + 1);
        return { headers: {}, turns: Array.from({ length: Math.ceil((A_SECOND * seconds) / count) }, headers) };
      }),
    ),
});

async function withToken(server: Server, user: number): Promise<() => Connection['headers']> {
  const [tokens] = await server.sessions('', 1, user);
  return () => bearer(tokens!);
}

async function withProofs(server: Server, user: number): Promise<() => Connection['headers']> {
  const device = new Device();
  const headers = { dpop: device.proof('POST', '/bound') };
  const answer = await fetch(`${server.url}/bound?user=${user}`, { method: 'POST', headers });
  if (!answer.ok) throw new Error(`/bound answered ${answer.status}`);
  const { access_token: token } = (await answer.json()) as Tokens;
  return () => ({ authorization: `DPoP ${token}`, dpop: device.proof('GET', '/guarded', token) });
}

async function main(cleanup: Cleanup): Promise<void> {
  const settings = readSettings({ BENCH_ROUNDS: '7', BENCH_SECONDS: '3', ...process.env });
  const { rounds, seconds, connections } = settings;
  cleanup.deadline(600 + rounds * 3 * (4 * seconds + 10));
  const stores = await startStores(cleanup);
  const [off, on] = [
    await Server.start('ours', stores, cleanup),
    await Server.start('ours', stores, cleanup, { BENCH_BOUND: ADDRESS }),
  ];
  const loads: Readonly<Record<string, Load>> = {
    off: prepared('a token, feature off', off, (user) => withToken(off, user)),
    token: prepared('a token', on, (user) => withToken(on, user)),
    proof: prepared('a proof', on, (user) => withProofs(on, user)),
  };
  const samples: Record<string, Sample[]> = { off: [], token: [], proof: [] };
  for (let round = 0; round < rounds; round++) {
    const names = round % 2 ? Object.keys(loads).toReversed() : Object.keys(loads);
    for (const name of names) {
      await sample(loads[name]!, 1, { connections, stores });
      samples[name]!.push(await sample(loads[name]!, seconds, { connections, stores }));
    }
  }

  /** The median of the ratios of the rounds, because the samples of one round are beside each other. */
  const ratio = (name: string, to: string, figure: 'perSecond' | 'cpuMicros'): string =>
    median(samples[name]!.map((one, i) => one[figure]! / samples[to]![i]![figure]!)).toFixed(2);
  const figures = [
    machine(),
    guardedRequests([
      ['an access token, at a server without the feature', samples.off!],
      ['an access token', samples.token!],
      ['a bound access token and a proof', samples.proof!],
    ]),
    `Requests with a proof: ${ratio('proof', 'token', 'perSecond')} of those without (bar: 0.7), with ` +
      `${ratio('proof', 'token', 'cpuMicros')} times the processor time of the server. With the feature on, requests without a ` +
      `proof take ${ratio('token', 'off', 'cpuMicros')} times the processor time of those at a server without it.`,
  ];
  await publish('bound', figures.join('\n\n'));
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
