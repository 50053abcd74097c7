import type { Sample } from './load';
import { ADAPTERS } from './server';
import { median } from './statistics';

/** A comparison within one round, and its bar. */
export interface Target {
  group: string;
  of: string;
  /** Absent if the figure itself is compared with the bar. */
  to?: string;
  field: keyof Sample;
  least?: number;
  most?: number;
}

const rate = (group: string, of: string, to: string, least?: number): Target => ({
  group,
  of,
  to,
  field: 'perSecond',
  least,
});

/** Bars of the framework's cost differ: Node 24 executes promises and Express several times as fast as Node 20. */
const ON_NODE_24 = Number(process.versions.node.split('.')[0]) >= 24;

/** The comparisons in the order of output. Those without a bar are informative. */
export const TARGETS: readonly Target[] = [
  rate('guarded', 'ours.express', 'same.express', 0.62),
  rate('guarded', 'ours.fastify', 'bare.pool', 0.75),
  rate('guarded', 'ours.express', 'lean.express', 0.9),
  rate('guarded', 'ours.fastify', 'lean.fastify', ON_NODE_24 ? 0.95 : 0.8),
  rate('guarded', 'ours.express', 'better-auth.database.express', 3),
  rate('guarded', 'ours.fastify', 'better-auth.database.fastify', 3),
  ...['better-auth-nest', 'bymax'].flatMap((peer) => [
    rate('guarded', 'ours.express', `${peer}.express`, 1.8),
    rate('guarded', 'ours.fastify', `${peer}.fastify`, 1.8),
  ]),
  rate('guarded', 'ours.express', 'string.express', 4),
  rate('guarded', 'ours.fastify', 'string.fastify', 4),
  ...ADAPTERS.flatMap((adapter): Target[] => {
    const compared = { group: 'refresh', of: `ours.${adapter}`, to: `lean.${adapter}` };
    return [
      { ...compared, field: 'perSecond', least: ON_NODE_24 ? 0.95 : 0.85 },
      { ...compared, field: 'cpuMicros', most: ON_NODE_24 ? 1.15 : 1.25 },
    ];
  }),
  ...['bare.pool', 'bare.pipelined'].flatMap((bare) => [
    rate('refresh', 'ours.express', bare, ON_NODE_24 ? 0.95 : undefined),
    rate('refresh', 'ours.fastify', bare, ON_NODE_24 ? 0.95 : undefined),
  ]),
  rate('login', 'ours.express', 'hasher', 0.92),
  rate('login', 'ours.fastify', 'hasher', 0.92),
  { group: 'login', of: 'ours.express', field: 'loopP99', most: 10 },
  { group: 'login', of: 'ours.fastify', field: 'loopP99', most: 10 },
  ...['refresh', 'guarded'].flatMap((kind) =>
    ['default', 'many'].map((set) => ({
      ...rate('features', `${kind}.${set}`, `${kind}.none`),
      field: 'cpuMicros' as const,
      most: 1.03,
    })),
  ),
  { group: 'revoke', of: 'fifty', to: 'one', field: 'p50', most: 3 },
  rate('guarded', 'ours.fastify', 'same.fastify'),
  rate('guarded', 'ours.express', 'bare.pipelined'),
  rate('guarded', 'ours.fastify', 'bare.pipelined'),
  rate('guarded', 'lean.express', 'bare.pipelined'),
  rate('guarded', 'lean.fastify', 'bare.pipelined'),
  ...['express', 'fastify'].flatMap((adapter) => [
    rate('guarded', `ours.${adapter}`, `empty.${adapter}`),
    rate('guarded', `ours.${adapter}`, `keyObject.${adapter}`),
    rate('guarded', `ours.${adapter}`, `better-auth.redis.${adapter}`),
    rate('guarded', `ours.${adapter}`, `better-auth.cookie.${adapter}`),
  ]),
  ...['express', 'fastify'].flatMap((adapter) => [
    rate('refresh', `ours.${adapter}`, `same.${adapter}`),
    rate('refresh', `ours.${adapter}`, 'pgbench'),
    rate('refresh', `same.${adapter}`, 'pgbench'),
  ]),
  rate('refresh', 'ours.express', 'string'),
  rate('refresh', 'ours.express', 'key-object'),
  ...['express', 'fastify'].flatMap((adapter): Target[] => [
    { group: 'login', of: `ours.${adapter}`, field: 'hashing' },
    { group: 'login', of: `ours.${adapter}`, to: 'hasher', field: 'hashMs' },
  ]),
  rate('login', 'ours.express', 'argon2'),
  rate('login', 'ours.express', 'node-rs'),
];

/** The figure of a bar for each round: neighbouring samples saw the same machine state. Undefined if not measured. */
export function roundsOf({ of, to, field }: Target, samples: Record<string, Sample[]>): number[] | undefined {
  const [ours, others] = [samples[of], to === undefined ? undefined : samples[to]];
  if (!ours || (to !== undefined && !others)) return undefined;
  return ours.map((sample, round) => sample[field]! / (others ? others[round]![field]! : 1));
}

/** The verdict on a bar. */
export function verdictOf({ least, most }: Target, rounds: number[] | undefined): string {
  const bar = least === undefined ? `≤ ${most}` : `≥ ${least}`;
  if (!rounds) return `${bar}: not measured`;
  const figure = median(rounds);
  const met = least === undefined ? figure <= most! : figure >= least;
  return `${bar}: ${met ? 'met' : '**missed**'}`;
}
