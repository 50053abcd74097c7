import { connect } from 'node:net';

/** The statistics of a Redis server. */
export interface RedisInfo {
  version: string;
  /** Processor time of all its threads, in microseconds. */
  cpuMicros: number;
  /** The number of commands for requests by name, including those inside scripts. */
  commands: Record<string, number>;
}

// Commands that clients send on their own, and those of this file.
const NOT_OF_REQUESTS = /^(info|quit|ping|hello|auth|client|select|command)/;

/** Reads the statistics. Resolves after Redis has answered all earlier commands. */
export function redisInfo(redisUrl: string): Promise<RedisInfo> {
  const { port, hostname } = new URL(redisUrl);
  return new Promise((resolve, reject) => {
    let answer = '';
    const ask = (): unknown => socket.write('INFO server\r\nINFO cpu\r\nINFO commandstats\r\nQUIT\r\n');
    const socket = connect(Number(port), hostname, ask);
    socket.setTimeout(2000, () => socket.destroy(new Error('Redis did not answer'))).setEncoding('utf8');
    socket.on('data', (chunk: string) => (answer += chunk)).on('error', reject);
    socket.on('end', () => resolve(read(answer)));
  });
}

function read(answer: string): RedisInfo {
  const field = (name: string): string => new RegExp(`^${name}:(.*)\r$`, 'm').exec(answer)?.[1] ?? '';
  const calls = [...answer.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
    .filter(([, name]) => !NOT_OF_REQUESTS.test(name!))
    .map(([, name, count]) => [name!, Number(count)] as const);
  return {
    version: field('valkey_version') ? `Valkey ${field('valkey_version')}` : `Redis ${field('redis_version')}`,
    cpuMicros: (Number(field('used_cpu_user')) + Number(field('used_cpu_sys'))) * 1e6,
    commands: Object.fromEntries(calls),
  };
}
