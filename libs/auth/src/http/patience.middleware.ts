import type { ServerResponse } from 'node:http';
import { Patience } from '../kernel/patience';

/** Answers a request of the library's routes within one wait for its stores, however many of them it asks. */
export function sharePatience(_request: unknown, response: ServerResponse, next: () => void): void {
  const end = Patience.share(next);
  response.once('close', end);
}
