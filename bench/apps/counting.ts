import { Controller, Get, Query } from '@nestjs/common';
import { Client } from 'pg';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pgText } from './pg-text';

/** What a server process has spent since it started, and how it is. */
export interface Spent {
  /** SQL statements sent, transaction control included. */
  statements: number;
  /** Processor time of all threads, in microseconds. */
  cpuMicros: number;
  /** Password hashes that were computed, and the milliseconds from their begin to their end, all together. */
  hashes: number;
  hashMs: number;
  /** How late its timers were, since the last reset: the 99th percentile, in milliseconds. */
  loopP99: number;
  /** Resident memory, in MiB. */
  rss: number;
}

/** One statement as it was sent, with its parameters and its answer as PostgreSQL reads and writes them. */
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

/** Counts every statement of this process where it leaves, below TypeORM and below the pool, and every hash. */
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

/** Times every password that is checked, below the queue that makes it wait. */
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

/** Answers the load generator's questions under `/bench-stats`. */
export function statsOf(question: string): Spent | Recorded[] {
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
    // The interval itself is no delay.
    loopP99: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
    rss: process.memoryUsage.rss() / 2 ** 20,
  };
}

/** Tells the load generator what this process has spent. */
@Controller('bench-stats')
export class SpentController {
  @Get()
  spent(@Query('do') question = ''): Spent | Recorded[] {
    return statsOf(question);
  }
}
