import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server } from 'node:http';
import type { TestApp } from '../hosts/app';

const requestScope = new AsyncLocalStorage<true>();
const marked = new WeakSet<Server>();

/** Marks the requests of an application for {@link isInRequest}. */
export function markRequests(t: TestApp): void {
  const server: Server = t.app.getHttpServer();
  if (marked.has(server)) return;
  marked.add(server);
  server.prependListener('request', () => requestScope.enterWith(true));
}

/** Whether this code runs in a request. The application also checks its denylist once a second without a request. */
export const isInRequest = (): boolean => requestScope.getStore() === true;

/** Records the statements of requests until the test ends. */
export function requestStatements(t: TestApp): jest.Mock<void, [text: string]> {
  markRequests(t);
  const recorded = jest.fn<void, [text: string]>();
  jest.spyOn(t.database.logger, 'logQuery').mockImplementation((text: string) => {
    if (isInRequest()) recorded(text);
  });
  return recorded;
}
