import { type Caller, callerOf } from './caller';
import { Grant } from './grant';

/**
 * Where a verified token is looked for: a request that a guard has authenticated, or the caller it recorded.
 *
 * @publicApi
 */
export type TokenSource = Caller | object | null | undefined;

/** The caller a source stands for; of `guard`, where one is named, else of the guard that spoke last. */
export function callerIn(from: TokenSource, guard?: string): Caller | undefined {
  if (typeof from !== 'object' || from === null) return undefined;
  if (!isCaller(from)) return callerOf(from, guard);
  return guard === undefined || from.guard === guard ? from : undefined;
}

// A class of ours, and no shape that a request or a body could have.
const isCaller = (from: object): from is Caller => 'grant' in from && from.grant instanceof Grant;
