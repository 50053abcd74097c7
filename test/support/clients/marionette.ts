import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

/** `[kind, id, error, result]` */
type Reply = [number, number, { message: string } | null, { value: unknown } | null];

/**
 * The remote protocol of Firefox that has the WebAuthn commands (WebDriver for WebAuthn Level 3 §11), which WebDriver BiDi
 * lacks. Each message is its length in bytes, a colon, and JSON. It uses the session that the BiDi client has opened.
 */
export class Marionette {
  private received = Buffer.alloc(0);
  private readonly waiting = new Map<number, (reply: Reply) => void>();
  private commands = 0;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => this.read(chunk));
  }

  static async connect(port: number): Promise<Marionette> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    // The connection ends with the browser.
    socket.on('error', () => undefined);
    return new Marionette(socket);
  }

  /** @throws Error with the message of Firefox */
  async send<T>(name: string, parameters: object): Promise<T> {
    const id = ++this.commands;
    const text = JSON.stringify([0, id, name, parameters]);
    const reply = new Promise<Reply>((resolve) => this.waiting.set(id, resolve));
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [, , error, result] = await reply;
    if (error) throw new Error(`${name}: ${error.message}`);
    return result?.value as T;
  }

  private read(chunk: Buffer): void {
    this.received = Buffer.concat([this.received, chunk]);
    for (;;) {
      const colon = this.received.indexOf(':');
      const end = colon + 1 + Number(this.received.subarray(0, Math.max(colon, 0)).toString());
      if (colon < 0 || this.received.length < end) return;
      const message = JSON.parse(this.received.subarray(colon + 1, end).toString()) as Reply | object;
      this.received = this.received.subarray(end);
      // The first message describes the browser.
      if (Array.isArray(message)) this.waiting.get(message[1] as number)?.(message as Reply);
    }
  }
}
