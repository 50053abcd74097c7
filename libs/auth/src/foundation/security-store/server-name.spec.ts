import { EventEmitter } from 'node:events';
import { type RedisClient, ServerName, ServerNames } from './redis-client';
import { UNNAMED } from './security-store';

/** A client whose server says what the test has it say, when the test has it answer. */
class FakeClient extends EventEmitter implements RedisClient {
  isOpen = true;
  isReady = true;
  private readonly waiting: ((answer: string | Error) => void)[] = [];

  sendCommand(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  }

  /** Answers everything that was asked up to now. */
  async answer(answer: string | Error): Promise<void> {
    for (const one of this.waiting.splice(0)) one(answer);
    await new Promise(setImmediate);
  }

  lose(): void {
    this.isReady = false;
    this.emit('error', new Error('Socket closed unexpectedly'));
  }

  comeBack(): void {
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

  it('is unknown from the loss of the connection until the next one has told it', async () => {
    const [client, server] = await known();
    client.lose();
    expect(server.name).toBeNull();
    client.comeBack();
    expect(server.name).toBeNull();
    await client.answer('run_id:new');
    expect(server.name).toBe('new');
  });

  it('is unknown from a new connection on, also when no loss was told', async () => {
    const [client, server] = await known();
    client.comeBack();
    expect(server.name).toBeNull();
  });

  it('is not what was asked over a former connection', async () => {
    const [client, server] = await known();
    const asked = server.ask();
    client.lose();
    await client.answer('run_id:old');
    await asked;
    expect(server.name).toBeNull();
  });

  it('is another one where a server was replaced unseen, as soon as it is asked again', async () => {
    const [client, server] = await known();
    const asked = server.ask();
    await client.answer('run_id:new');
    await asked;
    expect(server.name).toBe('new');
  });

  it('is asked for again where the server did not tell it', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const client = new FakeClient();
    const server = new ServerName(client);
    for (const answer of [new Error('LOADING Redis is loading the dataset in memory'), 'role:slave\r\nrun_id:old']) {
      await client.answer(answer);
      expect(server.name).toBeNull();
      await jest.advanceTimersByTimeAsync(100);
    }
    await client.answer('role:master\r\nrun_id:old');
    expect(server.name).toBe('old');
    jest.useRealTimers();
  });

  it.each([
    ['NOPERM User default has no permissions to run the `info` command'],
    ["ERR unknown command 'INFO'"],
    ['nothing that names it'],
  ])('says that there is none where the server answers %s', async (answer) => {
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
    names = new ServerNames();
    expect(names.common).toBeNull();
    clients = [new FakeClient(), new FakeClient()];
    for (const client of clients) {
      names.watch(client);
      expect(names.common).toBeNull();
      await client.answer('run_id:old');
      expect(names.common).toBe('old');
    }
  });

  it('is unknown while they disagree', async () => {
    const asked = names.ask();
    await clients[0].answer('run_id:new');
    expect(names.common).toBeNull();
    await clients[1].answer('run_id:new');
    await asked;
    expect(names.common).toBe('new');
  });

  it('is unknown while one of them is broken, and no longer when that is closed', () => {
    clients[1].lose();
    expect(names.common).toBeNull();
    clients[1].isOpen = false;
    expect(names.common).toBe('old');
    clients[0].isOpen = false;
    expect(names.common).toBeNull();
  });
});
