import type { INestApplicationContext, INestApplication } from '@nestjs/common';
import { Realms } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { AccountLockout } from '../../request/lockout/lockout';
import { isIP } from 'node:net';

/** A maximum that no test reaches. */
const UNREACHED = 1e9;

/**
 * Removes every limit of an application: the rate limits of all guards, those of `rateLimits.limiters` and of
 * `SharedThrottlerStorage`, the limits on failed attempts, and the lockout. Attempts are counted as before, but none is
 * refused; headers such as `X-RateLimit-Limit` still state the configured limits. Without effect on other applications.
 *
 * @param app after its start
 * @returns a function that restores the limits; attempts that were counted before that stay counted
 * @example outOfTheWay(app);
 * @publicApi
 */
export function outOfTheWay(app: INestApplicationContext): () => void {
  const store = app.get(SecurityStore, { strict: false });
  const count = store.count.bind(store);
  store.count = (limits, pending) =>
    count(
      limits.map((limit) => ({ ...limit, max: UNREACHED })),
      pending,
    );
  const lockouts = app
    .get(Realms, { strict: false })
    .all.map((scope) => scope.get(AccountLockout) as Partial<AccountLockout>);
  for (const lockout of lockouts)
    Object.assign(lockout, {
      secondsLocked: async () => 0,
      attempt: (_key, _field, verify) => verify(),
    } satisfies Partial<AccountLockout>);
  return () => {
    // The methods of the classes appear again.
    delete (store as Partial<SecurityStore>).count;
    for (const lockout of lockouts) {
      delete lockout.secondsLocked;
      delete lockout.attempt;
    }
  };
}

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
