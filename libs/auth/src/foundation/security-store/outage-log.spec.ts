import { Logger } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { RedisSecurityStore } from './redis-security-store';

/** A client that answers every command with null. */
class FakeClient extends EventEmitter {
  readonly isOpen = true;
  sendCommand = async (): Promise<null> => null;
}

/** A sentinel object, which reports no new connection. */
class FakeSentinel extends FakeClient {
  readonly isReady = true;
  getSentinelNode = (): null => null;
  _execute = <T>(_: boolean, command: (client: FakeClient) => Promise<T>): Promise<T> => command(new FakeClient());
}

describe('the log of an outage of Redis', () => {
  let now: number;
  let lines: string[];

  beforeEach(() => {
    [now, lines] = [1000, []];
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    for (const level of ['log', 'warn'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation((...texts) => void lines.push(`${level} ${texts[0]}`));
  });

  /** The client of a store. */
  function watched(): FakeClient {
    const client = new FakeClient();
    expect(new RedisSecurityStore(client as never, 500).shared).toBe(true);
    return client;
  }

  /** The failures of an outage, twice a second. */
  function fail(client: FakeClient, seconds: number): void {
    for (const end = now + seconds * 1000; now < end; now += 500) client.emit('error', new Error('ECONNREFUSED'));
  }

  it('has the first failure, one line a minute with the number of failures, and one line when Redis answers again', () => {
    const client = watched();
    client.emit('ready');
    expect(lines).toEqual([]);
    fail(client, 0.5);
    expect(lines).toEqual(['warn Redis: ECONNREFUSED']);
    fail(client, 130);
    client.emit('ready');
    client.emit('ready');
    const repeated = 'warn Redis: ECONNREFUSED (119 more failures since the last line)';
    expect(lines.slice(1)).toEqual([repeated, repeated, 'log Redis answers again. Failures since it was lost: 261.']);
  });

  it('has the first failure of the next outage, also within the same minute', () => {
    const client = watched();
    fail(client, 2);
    client.emit('ready');
    fail(client, 2);
    expect(lines.map((line) => line.replace(/\..*/, ''))).toEqual([
      'warn Redis: ECONNREFUSED',
      'log Redis answers again',
      'warn Redis: ECONNREFUSED',
    ]);
  });

  it('has the first failure with each code of a refusal, and a new connection alone is no answer then', async () => {
    const client = watched();
    const fails = (message: string): boolean => client.emit('error', new Error(message));
    fails('Socket closed unexpectedly');
    fails('WRONGPASS invalid username-password pair');
    fails('WRONGPASS invalid username-password pair');
    fails('LOADING Redis is loading the dataset in memory');
    client.emit('ready');
    expect(lines).toEqual([
      'warn Redis: Socket closed unexpectedly',
      'warn Redis: WRONGPASS invalid username-password pair',
      'warn Redis: LOADING Redis is loading the dataset in memory (1 more failures since the last line)',
      'log Redis answers again. Failures since it was lost: 4.',
    ]);
  });

  it('has a refusal of a command once, without its text, until commands are answered again', async () => {
    const client = new FakeClient();
    const store = new RedisSecurityStore(client as never, 500);
    const answer = client.sendCommand;
    client.sendCommand = async () => Promise.reject(new Error('READONLY of the key svc:secret'));
    for (let i = 0; i < 3; i++) await store.getMany(['svc:secret']).catch(() => undefined);
    client.emit('ready');
    await store.getMany([]).catch(() => undefined);
    expect(lines).toEqual(['warn Redis: READONLY (the connection is replaced)']);
    client.sendCommand = answer;
    now += 5000;
    await store.getMany([]);
    expect(lines[1]).toMatch(/^log Redis answers again\. Failures since it was lost: \d\.$/);
  });

  it('ends for a sentinel object with a reply that follows no failure of the last seconds', async () => {
    const sentinel = new FakeSentinel();
    const store = new RedisSecurityStore(sentinel as never, 500);
    fail(sentinel, 2);
    await store.getMany([]);
    expect(lines).toEqual(['warn Redis: ECONNREFUSED']);
    now += 5000;
    await store.getMany([]);
    await store.getMany([]);
    expect(lines.slice(1)).toEqual(['log Redis answers again. Failures since it was lost: 4.']);
  });
});
