import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server } from 'node:http';
import type { TestApp } from './app';

const asked = new AsyncLocalStorage<true>();
const marked = new WeakSet<Server>();

/** From now on {@link isForRequest} tells the requests of an application from what it does by itself. */
export function markRequests(t: TestApp): void {
  const server: Server = t.app.getHttpServer();
  if (marked.has(server)) return;
  marked.add(server);
  server.prependListener('request', () => asked.enterWith(true));
}

/** Whether this is done for a request. An application looks after its denylist by itself, once a second. */
export const isForRequest = (): boolean => asked.getStore() === true;

/** Records the statements of requests, until the test ends. */
export function statementsOf(t: TestApp): jest.Mock<void, [text: string]> {
  markRequests(t);
  const recorded = jest.fn<void, [text: string]>();
  jest.spyOn(t.database.logger, 'logQuery').mockImplementation((text: string) => {
    if (isForRequest()) recorded(text);
  });
  return recorded;
}
