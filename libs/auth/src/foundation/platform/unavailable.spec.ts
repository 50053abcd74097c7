import { stat } from 'node:fs';
import { AuthConfigError, StoreUnavailable } from './errors';
import { HOST_TIMEOUT_MS, RequestScope, callHost, isUnavailable, withTimeout } from './deadline';

const withCode = (code: unknown, message = 'failed') => Object.assign(new Error(message), { code });

/** The error of a raw query of Prisma. The answer of the server, or the failure of the connection, is in its `meta`. */
const ofRawQuery = (cause: object) =>
  Object.assign(withCode('P2010'), {
    meta: { driverAdapterError: Object.assign(new Error('', { cause }), { name: 'DriverAdapterError' }) },
  });

describe('an error means that a store is unavailable', () => {
  it.each([
    ['ECONNREFUSED'],
    ['ECONNRESET'],
    ['ETIMEDOUT'],
    ['EPIPE'],
    ['ENOTFOUND'],
    ['EAI_AGAIN'],
    ['EHOSTUNREACH'],
    ['ENETUNREACH'],
    ['EADDRNOTAVAIL'],
    ['08000'],
    ['08006'],
    ['08P01'],
    ['53300'],
    ['57P01'],
    ['57P02'],
    ['57P03'],
    ['25006'],
    ['25P03'],
    ['25P04'],
    ['55000'],
    ['58000'],
    ['40001'],
    ['40003'],
    ['40P01'],
    ['55P03'],
    ['57014'],
  ])('by the code %s, wrapped or not', (code) => {
    expect(isUnavailable(withCode(code))).toBe(true);
    expect(isUnavailable(Object.assign(new Error('query failed'), { driverError: withCode(code) }))).toBe(true);
    expect(isUnavailable(new AggregateError([new Error('other'), withCode(code)]))).toBe(true);
    const ofDrizzle = new Error('Failed query: select 1', { cause: withCode(code) });
    expect(isUnavailable(Object.assign(ofDrizzle, { query: 'select 1', params: [] }))).toBe(true);
    const ofPrisma = new Error('terminating connection', { cause: { kind: 'postgres', code } });
    expect(isUnavailable(Object.assign(ofPrisma, { name: 'DriverAdapterError' }))).toBe(true);
    expect(isUnavailable(ofRawQuery({ kind: 'postgres', code }))).toBe(true);
  });

  it.each([
    'DatabaseNotReachable',
    'ConnectionClosed',
    'SocketTimeout',
    'TlsConnectionError',
    'TooManyConnections',
    'TransactionWriteConflict',
  ])('by the kind %s of a raw query of Prisma', (kind) => expect(isUnavailable(ofRawQuery({ kind }))).toBe(true));

  it.each(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2034', 'P2037'])('by the code %s of Prisma', (code) =>
    expect(isUnavailable(withCode(code))).toBe(true),
  );

  it.each([
    ['Connection terminated unexpectedly'],
    ['Connection terminated due to connection timeout'],
    ['timeout exceeded when trying to connect'],
    ['Client has encountered a connection error and is not queryable'],
    ['Client was closed and is not queryable'],
    ['There was an error establishing an SSL connection'],
    ['Cannot use a pool after calling end on the pool'],
    ['Driver not Connected'],
  ])('by the message of the driver: %s', (message) => expect(isUnavailable(new Error(message))).toBe(true));
});

describe('an error does not mean that a store is unavailable', () => {
  it.each<[string, unknown]>([
    ['with the code of a violated constraint', withCode('23505')],
    ['with the code of a missing table', withCode('42P01')],
    ['with the code of invalid text', withCode('22P02')],
    ['with the code of a rejected password', withCode('28P01')],
    ['with the code of a missing file', withCode('ENOENT')],
    ['with a number as code', withCode(8006)],
    ['without a code', new Error('the host made a mistake')],
    ['in the configuration', new AuthConfigError('connection')],
    ['of Prisma for a unique value', withCode('P2002')],
    ['of a raw query of Prisma for a unique value', ofRawQuery({ kind: 'UniqueConstraintViolation' })],
    ['whose cause is that of another service', new Error('fetch failed', { cause: withCode('ECONNREFUSED') })],
    ['that wraps such an error', Object.assign(new Error(), { driverError: withCode('23505') })],
    ['of several such errors', new AggregateError([withCode('23505'), new Error('x')])],
    ['without any error in it', new AggregateError([])],
    ['that is text', 'ECONNREFUSED'],
    ['that is null', null],
    ['that is undefined', undefined],
  ])('%s', (_, error) => expect(isUnavailable(error)).toBe(false));
});

describe('a call of a store with a timeout', () => {
  it('passes on the answer or the error of a store that answers in time', async () => {
    const mistake = new TypeError('not ours');
    await expect(withTimeout('Redis', 1000, Promise.resolve('PONG'))).resolves.toBe('PONG');
    await expect(withTimeout('Redis', 1000, Promise.reject(mistake))).rejects.toBe(mistake);
  });

  it('rejects with StoreUnavailable when the timeout ends', async () => {
    const start = performance.now();
    const answer = withTimeout('Redis', 50, new Promise(() => undefined));
    await expect(answer).rejects.toThrow(StoreUnavailable);
    await expect(answer).rejects.toThrow('Redis did not answer');
    expect(performance.now() - start).toBeGreaterThanOrEqual(45);
  });

  it('accepts an answer that arrived while the event loop was blocked', async () => {
    // After this line the event loop runs timers before it reads from sockets and files.
    await new Promise(setImmediate);
    const answer = withTimeout('Redis', 20, new Promise((resolve) => stat(__filename, () => resolve('PONG'))));
    const busyUntil = performance.now() + 100;
    while (performance.now() < busyUntil);
    await expect(answer).resolves.toBe('PONG');
  });

  it('rejects with StoreUnavailable when the store is unreachable, and keeps the cause for the log', async () => {
    const cause = withCode('ECONNREFUSED');
    const error: StoreUnavailable = await withTimeout('PostgreSQL', 1000, Promise.reject(cause)).catch((e) => e);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect([error.message, error.cause]).toEqual(['PostgreSQL did not answer', cause]);
    expect([error.getStatus(), error.headers]).toEqual([503, { 'Retry-After': '1' }]);
    expect(error.getResponse()).toEqual({
      message: 'The service is temporarily unavailable. Please try again shortly.',
    });
  });

  it('clears its timer', async () => {
    jest.useFakeTimers();
    await withTimeout('Redis', 60_000, Promise.resolve());
    await withTimeout('Redis', 60_000, Promise.reject(new Error('x'))).catch(() => undefined);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('ignores a rejection after the timeout, so that the process does not end', async () => {
    const unhandled = jest.fn();
    process.once('unhandledRejection', unhandled);
    let reject!: (error: Error) => void;
    const late = new Promise((_, refuse) => (reject = refuse));
    await expect(withTimeout('Redis', 10, late)).rejects.toThrow(StoreUnavailable);
    reject(new Error('late'));
    // Node reports an unhandled rejection at the end of the turn.
    await new Promise(setImmediate);
    expect(unhandled).not.toHaveBeenCalled();
    process.off('unhandledRejection', unhandled);
  });
});

describe('a call of code of the host', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('passes on the result or the error of the code, also of code that is not asynchronous', async () => {
    const mistake = new TypeError('not ours');
    await expect(callHost('a hook', () => 'claims')).resolves.toBe('claims');
    await expect(callHost('a hook', async () => 'claims')).resolves.toBe('claims');
    await expect(callHost('a hook', () => Promise.reject(mistake))).rejects.toBe(mistake);
    const throwing = (): never => {
      throw mistake;
    };
    await expect(callHost('a hook', throwing)).rejects.toBe(mistake);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects with StoreUnavailable, which names the code, when the time limit ends', async () => {
    const answer = callHost('hooks.tokenClaims', () => new Promise(() => undefined)).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(HOST_TIMEOUT_MS);
    expect(await answer).toBeInstanceOf(StoreUnavailable);
    expect(await answer).toMatchObject({ message: 'hooks.tokenClaims did not answer' });
  });

  it('does not use up the deadline of the stores', async () => {
    const scope = RequestScope.of({});
    const left = scope.run(async () => {
      await callHost('a hook', () => new Promise<void>((resolve) => setTimeout(resolve, 5000)));
      return scope.deadline!.left(800);
    });
    await jest.advanceTimersByTimeAsync(5000);
    expect(await left).toBe(800);
  });
});
