import { stat } from 'node:fs';
import { AuthConfigError, StoreUnavailable } from './errors';
import { withTimeout, isUnavailable } from './deadline';

const withCode = (code: unknown, message = 'failed') => Object.assign(new Error(message), { code });

describe('an error says that a store could not be asked', () => {
  it.each([
    ['ECONNREFUSED'],
    ['ECONNRESET'],
    ['ETIMEDOUT'],
    ['EPIPE'],
    ['ENOTFOUND'],
    ['EAI_AGAIN'],
    ['EHOSTUNREACH'],
    ['ENETUNREACH'],
    ['08006'],
    ['53300'],
    ['57P01'],
    ['57P03'],
    ['25006'],
    ['55000'],
    ['40001'],
    ['40P01'],
    ['55P03'],
    ['57014'],
  ])('by the code %s, wrapped or not', (code) => {
    expect(isUnavailable(withCode(code))).toBe(true);
    expect(isUnavailable(Object.assign(new Error('query failed'), { driverError: withCode(code) }))).toBe(true);
    expect(isUnavailable(new AggregateError([new Error('other'), withCode(code)]))).toBe(true);
  });

  it.each([
    ['Connection terminated unexpectedly'],
    ['Connection terminated due to connection timeout'],
    ['timeout exceeded when trying to connect'],
    ['Client has encountered a connection error and is not queryable'],
    ['Driver not Connected'],
  ])('by the words of the driver: %s', (message) => expect(isUnavailable(new Error(message))).toBe(true));
});

describe('an error says nothing of the kind', () => {
  it.each<[string, unknown]>([
    ['with the code of a violated constraint', withCode('23505')],
    ['with the code of a missing table', withCode('42P01')],
    ['with the code of invalid text', withCode('22P02')],
    ['with the code of a missing file', withCode('ENOENT')],
    ['with a number as code', withCode(8006)],
    ['without a code', new Error('the host made a mistake')],
    ['of the developer', new AuthConfigError('connection')],
    ['that wraps one of those', Object.assign(new Error(), { driverError: withCode('23505') })],
    ['of several of those', new AggregateError([withCode('23505'), new Error('x')])],
    ['of none at all', new AggregateError([])],
    ['that is text', 'ECONNREFUSED'],
    ['that is null', null],
    ['that is undefined', undefined],
  ])('%s', (_, error) => expect(isUnavailable(error)).toBe(false));
});

describe('a store', () => {
  it('that answers in time is left to say what it says', async () => {
    const mistake = new TypeError('not ours');
    await expect(withTimeout('Redis', 1000, Promise.resolve('PONG'))).resolves.toBe('PONG');
    await expect(withTimeout('Redis', 1000, Promise.reject(mistake))).rejects.toBe(mistake);
  });

  it('that is silent is unavailable when its time is up', async () => {
    const start = performance.now();
    const answer = withTimeout('Redis', 50, new Promise(() => undefined));
    await expect(answer).rejects.toThrow(StoreUnavailable);
    await expect(answer).rejects.toThrow('Redis did not answer');
    expect(performance.now() - start).toBeGreaterThanOrEqual(45);
    expect(performance.now() - start).toBeLessThan(500);
  });

  it('that answered while the process was busy with something else has answered', async () => {
    // From here on the event loop comes by its timers before it reads.
    await new Promise(setImmediate);
    const answer = withTimeout('Redis', 20, new Promise((resolve) => stat(__filename, () => resolve('PONG'))));
    const busyUntil = performance.now() + 100;
    while (performance.now() < busyUntil);
    await expect(answer).resolves.toBe('PONG');
  });

  it('that cannot be reached is unavailable, and the cause is kept for the log', async () => {
    const cause = withCode('ECONNREFUSED');
    const error: StoreUnavailable = await withTimeout('PostgreSQL', 1000, Promise.reject(cause)).catch((e) => e);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect([error.message, error.cause]).toEqual(['PostgreSQL did not answer', cause]);
    expect([error.getStatus(), error.headers]).toEqual([503, { 'Retry-After': '1' }]);
    expect(error.getResponse()).toEqual({
      message: 'The service is temporarily unavailable. Please try again shortly.',
    });
  });

  it('leaves no timer behind', async () => {
    jest.useFakeTimers();
    await withTimeout('Redis', 60_000, Promise.resolve());
    await withTimeout('Redis', 60_000, Promise.reject(new Error('x'))).catch(() => undefined);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('that fails after its time is up ends no process', async () => {
    const unhandled = jest.fn();
    process.once('unhandledRejection', unhandled);
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 40));
    await expect(withTimeout('Redis', 10, late)).rejects.toThrow(StoreUnavailable);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(unhandled).not.toHaveBeenCalled();
    process.off('unhandledRejection', unhandled);
  });
});
