import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Checks that the server can listen on a port, before anything is started: Nest would log the error a second time, and an
 * embedded PostgreSQL would have to be stopped again.
 *
 * @throws Error if the port is in use
 */
export async function requireFreePort(port: number, host: string | undefined): Promise<void> {
  const probe = createServer();
  try {
    await once(probe.listen({ port, host }), 'listening');
    await once(probe.close(), 'close');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is in use. Choose another one: PORT=${port + 1} npm start`, { cause: error });
  }
}
