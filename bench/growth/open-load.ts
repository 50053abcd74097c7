import { setTimeout as sleep } from 'node:timers/promises';
import { storesSpent } from '../load';
import type { Server } from '../server';
import type { Stores } from '../stores';
import type { Answer } from './client';

/** The result of an open load. Times in milliseconds, processor times in microseconds for all requests. */
export interface OpenSample {
  latencies: number[];
  cpuMicros: number;
  postgresMicros: number;
}

/** The load: average requests per second, and the duration in seconds. */
export interface Pace {
  rate: number;
  seconds: number;
}

/** The milliseconds to the next of `rate` requests a second that do not depend on each other. */
export const gapMs = (rate: number): number => (-Math.log(1 - Math.random()) * 1000) / rate;

/**
 * Sends requests at given times, independent of responses: slow responses cause more concurrent requests, not fewer.
 * The gaps are exponentially distributed. @throws if a request fails
 */
export async function openLoad(
  server: Server,
  { rate, seconds }: Pace,
  stores: Stores,
  send: () => Promise<Answer>,
): Promise<OpenSample> {
  const before = await server.rest();
  const storesBefore = await storesSpent(stores);
  const latencies: number[] = [];
  const failures: unknown[] = [];
  const sent: Promise<unknown>[] = [];
  const start = performance.now();
  for (let startAt = 0; startAt < seconds * 1000; startAt += gapMs(rate)) {
    const early = start + startAt - performance.now();
    if (early > 0) await sleep(early);
    const keep = ({ milliseconds }: Answer): unknown => latencies.push(milliseconds);
    sent.push(send().then(keep, (error: unknown) => failures.push(error)));
    if (failures.length) break;
  }
  await Promise.all(sent);
  if (failures.length) throw failures[0];
  const after = await server.rest();
  const storesAfter = await storesSpent(stores);
  return {
    latencies,
    cpuMicros: after.cpuMicros - before.cpuMicros,
    postgresMicros: storesAfter.postgresMicros! - storesBefore.postgresMicros!,
  };
}
