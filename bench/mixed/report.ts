import { atMost, machine, spread, table } from '../markdown';
import type { Adapter } from '../server';
import type { Settings } from '../settings';
import { median } from '../statistics';
import type { PacedSample } from './paced';

/** The samples of one adapter. */
export interface Mixed {
  adapter: Adapter;
  /** Requests a second of each kind. */
  rates: Record<'guarded' | 'refresh' | 'login', number>;
  alone: PacedSample[];
  mixed: PacedSample[];
  flooded: PacedSample[];
}

/** The run as Markdown. */
export function report(all: readonly Mixed[], { rounds, seconds }: Settings, flood: number): string {
  const rows = all.flatMap(({ adapter, rates, ...samples }) =>
    (['alone', 'mixed', 'flooded'] as const).map((setting) => {
      const of = (field: 'p50' | 'p99' | 'loopP99'): number[] => samples[setting].map((sample) => sample[field]);
      const ratios = samples[setting].map(({ p99 }, round) => p99 / samples.alone[round]!.p99);
      const bar = { alone: '–', mixed: atMost(1.5, median(ratios)), flooded: atMost(2, median(ratios)) }[setting];
      const loop =
        setting === 'mixed'
          ? `${spread(of('loopP99'), 1)}, ${atMost(10, median(of('loopP99')))}`
          : spread(of('loopP99'), 1);
      return [
        NAMES[setting],
        `${adapter}, ${rates.guarded}/s`,
        spread(of('p50'), 1),
        spread(of('p99'), 1),
        spread(ratios),
        bar,
        loop,
      ];
    }),
  );
  const others = all.map(({ adapter, rates, flooded }) => {
    const statuses = flooded.map((sample) => sample.statuses[1]!);
    const names = [...new Set(statuses.flatMap((one) => Object.keys(one)))].toSorted();
    const answered = names.map((name) => `${median(statuses.map((one) => one[name] ?? 0)).toFixed(0)} × ${name}`);
    return `- ${adapter}: beside it ${rates.refresh} refreshes and ${rates.login} logins a second. The ${flood} wrong passwords a second were answered ${answered.join(', ')}.`;
  });
  return `${machine()}, ${rounds} rounds, interleaved, ${seconds} s per sample. Medians of the rounds, with the range. The requests of
each kind come independently of each other, at a fixed rate: 40 % of what the server answers of guarded requests alone, 20 % of refreshes, 10 % of logins.

${table(['guarded requests', 'adapter, rate', 'p50 ms', 'p99 ms', 'p99 over that alone', 'bar', 'event loop p99 ms'], rows)}

${others.join('\n')}`;
}

const NAMES = {
  alone: 'alone',
  mixed: 'with refreshes and logins',
  flooded: 'with wrong passwords of many clients',
};
