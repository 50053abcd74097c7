import { availableParallelism, cpus } from 'node:os';
import type { Sample, StoreCalls } from './load';
import { type LoginTiming, summaryOf } from './login-timing';
import { RATIOS, type Ratio, type Scenario, type Scenarios } from './scenarios';
import type { Settings } from './settings';
import { chanceOf, median } from './statistics';

/** Everything one run measured, by the scenarios' keys. */
export interface Measured {
  settings: Settings;
  scenarios: Scenarios;
  samples: Record<string, Sample[]>;
  calls: Record<string, StoreCalls>;
  /** By the name of the application. */
  timings: Record<string, LoginTiming>;
}

const TITLES: Record<Scenario['group'], string> = { guarded: 'Guarded GET', refresh: 'Refresh', login: 'Login' };

/** The run as Markdown. */
export function report(measured: Measured): string {
  const groups = [...new Set(Object.values(measured.scenarios).map(({ group }) => group))];
  return [
    heading(measured.settings),
    ...groups.map((group) => groupTable(group, measured)),
    ratioTable(measured),
    ...(Object.keys(measured.timings).length ? [timingTable(measured)] : []),
  ].join('\n\n');
}

function heading({ rounds, seconds, connections }: Settings): string {
  return `# Benchmark

Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), NODE_ENV=production.
${rounds} rounds, interleaved, ${seconds} s a sample, ${connections} connections; medians of the rounds.
Server, load generator, PostgreSQL and Redis share these cores: only ratios travel to another machine.`;
}

function groupTable(group: Scenario['group'], { scenarios, samples, calls }: Measured): string {
  const rows = Object.entries(scenarios)
    .filter(([, scenario]) => scenario.group === group)
    .map(([key, { name }]) => {
      const middle = (field: keyof Sample): number => median(samples[key]!.map((sample) => sample[field]));
      const { statements, transactionControl, redis } = calls[key]!;
      const sql = transactionControl ? `${statements} (${transactionControl} of them BEGIN, COMMIT)` : statements;
      const times = [middle('p50').toFixed(1), middle('p99').toFixed(1), middle('cpuMicros').toFixed(0)];
      return [name, middle('perSecond').toFixed(0), ...times, sql, middle('statements').toFixed(2), redis];
    });
  const columns = ['', 'req/s', 'p50 ms', 'p99 ms', 'server CPU µs/req', 'SQL/req', 'SQL/req under load', 'Redis/req'];
  return `## ${TITLES[group]}\n\n${table(columns, rows)}`;
}

function ratioTable(measured: Measured): string {
  const rows = RATIOS.filter(({ of }) => of in measured.scenarios).map((ratio) => {
    const { of, to, bar } = ratio;
    const ofRounds = roundsOf(ratio, 'perSecond', measured);
    // Processor time falls as speed rises: turned over, both ratios read "times as fast".
    const cpu = median(roundsOf({ of: to, to: of }, 'cpuMicros', measured));
    const verdict = bar === undefined ? '' : `≥ ${bar}: ${median(ofRounds) >= bar ? 'met' : '**missed**'}`;
    const [name, other] = [measured.scenarios[of]!, measured.scenarios[to]!];
    const range = `${Math.min(...ofRounds).toFixed(2)} to ${Math.max(...ofRounds).toFixed(2)}`;
    return [TITLES[name.group], other.name, median(ofRounds).toFixed(2), range, verdict, cpu.toFixed(2)];
  });
  const columns = ['', 'other', 'throughput', 'rounds', 'bar', 'by server CPU'];
  return `## Ratios: ours over the other\n\n${table(columns, rows)}`;
}

/** The ratio within each round: neighbours in time saw the same machine. */
const roundsOf = ({ of, to }: Ratio, field: keyof Sample, { samples }: Measured): number[] =>
  samples[of]!.map((sample, round) => sample[field] / samples[to]![round]![field]);

const triple = ([middle, low, high]: number[]): string =>
  `${middle?.toFixed(2)} (${low?.toFixed(2)} to ${high?.toFixed(2)})`;

function timingTable({ timings, settings: { logins } }: Measured): string {
  const rows = Object.entries(timings).map(([name, timing]) => {
    const { known, unknown, unknownSlower } = summaryOf(timing);
    return [name, triple(known), triple(unknown), unknownSlower.toFixed(3)];
  });
  const columns = ['', ...['known', 'unknown'].map((user) => `${user}: median ms (p5 to p95)`), 'P(unknown is slower)'];
  return `## Wrong password: known against unknown user

${table(columns, rows)}

${logins} sequential logins each. 0.5 is indistinguishable; chance alone gives 0.5 ± ${chanceOf(logins).toFixed(3)}.`;
}

const line = (cells: (string | number)[]): string => `| ${cells.join(' | ')} |`;

function table(columns: string[], rows: (string | number)[][]): string {
  return [line(columns), line(columns.map((_, i) => (i ? '---:' : '---'))), ...rows.map(line)].join('\n');
}
