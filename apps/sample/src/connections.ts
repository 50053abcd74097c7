import type { Server, ServerResponse } from 'node:http';

/** Longer than the 60 seconds for which proxies usually keep an idle connection. */
const KEEP_ALIVE_MS = 65_000;

/**
 * Prepares a server for a proxy that keeps connections open between requests.
 *
 * - The proxy closes an idle connection before the server does. Otherwise a request that is sent at that moment fails.
 * - The returned function ends each connection with its current or next answer. Without it, `server.close()` waits as
 *   long as the proxy sends requests on an open connection.
 *
 * @returns a function to call before the server is closed
 */
export function prepareConnections(server: Server): () => void {
  const unanswered = new Set<ServerResponse>();
  let isClosing = false;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.prependListener('request', (_request, response: ServerResponse) => {
    if (isClosing) response.shouldKeepAlive = false;
    unanswered.add(response);
    response.once('close', () => unanswered.delete(response));
  });
  return () => {
    isClosing = true;
    for (const response of unanswered) response.shouldKeepAlive = false;
  };
}
