import { EventEmitter } from 'node:events';
import { type RedisClient, ServerName, ServerNames } from './redis-client';
import { RedisSecurityStore } from './redis-security-store';
import { UNNAMED } from './security-store';

/** A client whose replies are set by the test. */
class FakeClient extends EventEmitter implements RedisClient {
  isOpen = true;
  isReady = true;
  private readonly waiting: ((answer: string | Error) => void)[] = [];

  sendCommand(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  }

  /** Answers all pending commands. */
  async answer(answer: string | Error): Promise<void> {
    for (const settle of this.waiting.splice(0)) settle(answer);
    await new Promise(setImmediate);
  }

  breakConnection(): void {
    this.isReady = false;
    this.emit('error', new Error('Socket closed unexpectedly'));
  }

  restoreConnection(): void {
    this.isReady = true;
    this.emit('ready');
  }
}

describe('the name of the server behind a client', () => {
  async function known(): Promise<[FakeClient, ServerName]> {
    const client = new FakeClient();
    const server = new ServerName(client);
    expect(server.name).toBeNull();
    await client.answer('run_id:old');
    expect(server.name).toBe('old');
    return [client, server];
  }

  it('is unknown from the loss of the connection until the server answers on the next one', async () => {
    const [client, server] = await known();
    client.breakConnection();
    expect(server.name).toBeNull();
    client.restoreConnection();
    expect(server.name).toBeNull();
    await client.answer('run_id:new');
    expect(server.name).toBe('new');
  });

  it('is unknown after a new connection, also without an error event', async () => {
    const [client, server] = await known();
    client.restoreConnection();
    expect(server.name).toBeNull();
  });

  it('is not taken from a reply on an earlier connection', async () => {
    const [client, server] = await known();
    const query = server.ask();
    client.breakConnection();
    await client.answer('run_id:old');
    await query;
    expect(server.name).toBeNull();
  });

  it('changes with the next query when a server was replaced behind the connection', async () => {
    const [client, server] = await known();
    const query = server.ask();
    await client.answer('run_id:new');
    await query;
    expect(server.name).toBe('new');
  });

  it('is queried again when the server did not provide it', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const client = new FakeClient();
    const server = new ServerName(client);
    const loading = new Error('LOADING Redis is loading the dataset in memory');
    for (const [answer, pause] of [
      [loading, 100],
      ['role:slave\r\nrun_id:old', 200],
    ] as const) {
      await client.answer(answer);
      expect(server.name).toBeNull();
      await jest.advanceTimersByTimeAsync(pause);
    }
    await client.answer('role:master\r\nrun_id:old');
    expect(server.name).toBe('old');
    jest.useRealTimers();
  });

  it.each([
    ['NOPERM User default has no permissions to run the `info` command'],
    ["ERR unknown command 'INFO'"],
    ['nothing with its name'],
  ])('is UNNAMED when the server answers %s', async (answer) => {
    const client = new FakeClient();
    const server = new ServerName(client);
    await client.answer(answer.startsWith('nothing') ? answer : new Error(answer));
    expect(server.name).toBe(UNNAMED);
  });
});

describe('the name of the server behind several connections', () => {
  let names: ServerNames;
  let clients: [FakeClient, FakeClient];

  beforeEach(async () => {
    names = new ServerNames(() => undefined);
    expect(names.common).toBeNull();
    clients = [new FakeClient(), new FakeClient()];
    for (const client of clients) {
      names.watch(client);
      expect(names.common).toBeNull();
      await client.answer('run_id:old');
      expect(names.common).toBe('old');
    }
  });

  it('is unknown while the names differ', async () => {
    const query = names.ask();
    await clients[0].answer('run_id:new');
    expect(names.common).toBeNull();
    await clients[1].answer('run_id:new');
    await query;
    expect(names.common).toBe('new');
  });

  it('is unknown while one connection is broken, and known again when that one is closed', () => {
    clients[1].breakConnection();
    expect(names.common).toBeNull();
    clients[1].isOpen = false;
    expect(names.common).toBe('old');
    clients[0].isOpen = false;
    expect(names.common).toBeNull();
  });
});

describe('the name of the server behind a sentinel object', () => {
  it('is unknown after a change of the topology until the master answers again', async () => {
    const client = new FakeClient();
    const sentinel = Object.assign(new EventEmitter(), {
      isReady: true,
      getSentinelNode: () => undefined,
      sendCommand: () => client.sendCommand(),
      _execute: <T>(_: boolean, command: (one: RedisClient) => Promise<T>) => command(client),
    });
    const store = new RedisSecurityStore(sentinel as never, 1000);
    void store.getMany(['k']);
    await client.answer('run_id:old');
    expect(store.instance).toBe('old');
    sentinel.emit('topology-change', { type: 'MASTER_CHANGE' });
    expect(store.instance).toBeNull();
    await client.answer('run_id:old\r\nmaster_replid:new');
    expect(store.instance).toBe('old:new');
  });
});
