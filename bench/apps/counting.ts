import { Controller, Get, Query } from '@nestjs/common';
import { Client } from 'pg';
import { type Profiler, Session } from 'node:inspector';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pgText } from './pg-text';

/** The work of a server process since its start, and its state. */
export interface Spent {
  /** SQL statements sent, transaction control included. */
  statements: number;
  /** Processor time of all threads, in microseconds. */
  cpuMicros: number;
  /** The number of computed password hashes, and the sum of their durations in milliseconds. */
  hashes: number;
  hashMs: number;
  /** The 99th percentile of the event loop delay since the last reset, in milliseconds. */
  loopP99: number;
  /** Resident memory, in MiB. */
  rss: number;
}

/** Memory after garbage collection in bytes, and what keeps the event loop alive: timers, connections and requests. */
export interface Retained {
  heapUsed: number;
  rss: number;
  resources: number;
}

/** One sent statement with its parameters and its result, in PostgreSQL's text format. */
export interface Recorded {
  text: string;
  values: (string | null)[];
  rows: Record<string, string | null>[];
}

type Send = (this: unknown, ...args: unknown[]) => unknown;
type Answer = { rows?: Record<string, unknown>[] } | undefined;

const RESOLUTION_MS = 10;
let statements = 0;
let [hashes, hashMs] = [0, 0];
let recording: Recorded[] | undefined;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

/** Counts every statement of this process, below TypeORM and the pool, and every hash. */
export function countWork(): void {
  delay.enable();
  timeHashes();
  const { prototype } = Client as unknown as { prototype: { query: Send } };
  const { query } = prototype;
  prototype.query = function counted(...args) {
    statements++;
    return recording ? record(query.bind(this), args, recording) : query.apply(this, args);
  };
}

/** Measures every password verification, without its time in the queue. */
function timeHashes(): void {
  const library = require('@node-rs/argon2') as { verify(...args: unknown[]): Promise<boolean> };
  const { verify } = library;
  library.verify = async (...args) => {
    const start = performance.now();
    try {
      return await verify(...args);
    } finally {
      hashes++;
      hashMs += performance.now() - start;
    }
  };
}

function record(query: Send, args: unknown[], into: Recorded[]): unknown {
  const [first, second] = args as [string | { text: string; values?: unknown[] }, unknown];
  const given = typeof first === 'string' ? second : (first.values ?? second);
  const text = typeof first === 'string' ? first : first.text;
  const entry: Recorded = { text, values: Array.isArray(given) ? given.map(pgText) : [], rows: [] };
  into.push(entry);
  const keep = (answer: Answer): void => {
    entry.rows = (answer?.rows ?? []).map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, pgText(value)])),
    );
  };
  const callback = args.at(-1);
  if (typeof callback !== 'function') {
    const answer = query(...args) as Promise<Answer>;
    answer.then(keep, () => undefined);
    return answer;
  }
  return query(...args.slice(0, -1), (error: unknown, answer: Answer) => {
    keep(answer);
    (callback as (error: unknown, answer: Answer) => void)(error, answer);
  });
}

let profiling: Session | undefined;

/** Records a CPU profile until {@link profiled}. */
function startProfile(): void {
  profiling = new Session();
  profiling.connect();
  profiling.post('Profiler.enable');
  profiling.post('Profiler.start');
}

/** The profile since its start. */
function profiled(): Profiler.Profile | undefined {
  let profile: Profiler.Profile | undefined;
  // The callbacks of a session in the same thread are synchronous.
  profiling?.post('Profiler.stop', (_error, result) => (profile = result.profile));
  profiling?.disconnect();
  return profile;
}

/** Answers the questions of the load generator under `/bench-stats`. */
export function statsOf(question: string): Spent | Recorded[] | Profiler.Profile | undefined {
  if (question === 'profile') startProfile();
  if (question === 'profiled') return profiled();
  if (question === 'record') recording = [];
  if (question === 'reset') delay.reset();
  if (question === 'recorded') {
    const recorded = recording ?? [];
    recording = undefined;
    return recorded;
  }
  const { user, system } = process.cpuUsage();
  return {
    statements,
    hashes,
    hashMs,
    cpuMicros: user + system,
    // The interval itself is not a delay.
    loopP99: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
    rss: process.memoryUsage.rss() / 2 ** 20,
  };
}

const COLLECTIONS = 5;
const COLLECTION_PAUSE_MS = 50;

/** Memory after several collections: the first ones run finalizers, which release more. */
async function retained(): Promise<Retained> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < COLLECTIONS; i++) {
    collect();
    await sleep(COLLECTION_PAUSE_MS);
  }
  const { heapUsed, rss } = process.memoryUsage();
  return { heapUsed, rss, resources: process.getActiveResourcesInfo().length };
}

/** Reports the work of this process to the load generator. */
@Controller('bench-stats')
export class SpentController {
  @Get('memory')
  memory(): Promise<Retained> {
    return retained();
  }

  @Get()
  spent(@Query('do') question = ''): ReturnType<typeof statsOf> {
    return statsOf(question);
  }
}
