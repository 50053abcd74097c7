import type { INestApplication } from '@nestjs/common';
import { isIP } from 'node:net';

/** The header by which a test chooses the address of a request. */
const HEADER = 'x-svc-test-client';

interface RawRequest {
  headers: Record<string, unknown>;
}

interface ExpressApplication {
  request: object;
}

interface FastifyInstance {
  addHook(name: 'onRequest', hook: (request: RawRequest, reply: unknown, done: () => void) => void): void;
}

const chosen = ({ headers }: RawRequest): string | undefined => {
  const address = headers[HEADER];
  return typeof address === 'string' && isIP(address) ? address : undefined;
};

/**
 * Lets each request of a test have a client address of its own, without a proxy: for rate limits, lists of sessions and
 * logs. `request.ip` of the application is the address of the header that the result creates; a request without this
 * header keeps its address. For requests over HTTP and for `inject` of Fastify.
 *
 * @param app before its `init()` or `listen()`: Fastify accepts no hook later
 * @returns makes the header of a client with this IPv4 or IPv6 address. It throws a RangeError for any other text
 * @example
 * const from = clientAddresses(app);
 * await request(app.getHttpServer()).post('/auth/login').set(from('203.0.113.7')).send(credentials);
 * @publicApi
 */
export function clientAddresses(app: INestApplication): (address: string) => Record<string, string> {
  const adapter = app.getHttpAdapter();
  if (adapter.getType() === 'fastify') {
    (adapter.getInstance() as FastifyInstance).addHook('onRequest', (request, _, done) => {
      const address = chosen(request);
      if (address) Object.defineProperty(request, 'ip', { value: address });
      done();
    });
  } else {
    const { request } = adapter.getInstance() as ExpressApplication;
    const usual = Object.getPrototypeOf(request) as object;
    const ip = function (this: RawRequest): unknown {
      return chosen(this) ?? Reflect.get(usual, 'ip', this);
    };
    Object.defineProperty(request, 'ip', { get: ip, configurable: true });
  }
  return (address) => {
    if (!isIP(address)) throw new RangeError(`"${address}" is not an IP address`);
    return { [HEADER]: address };
  };
}
