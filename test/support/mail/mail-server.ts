import { type AddressInfo, type Server, createServer } from 'node:net';

/** A mail server that accepts and counts every mail. Implements the part of RFC 5321 that a client needs. */
export class MailServer {
  taken = 0;
  private readonly server: Server = createServer((socket) => {
    let inData = false;
    socket.on('error', () => undefined).write('220 ready\r\n');
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\r\n').slice(0, -1)) {
        if (inData && line !== '.') continue;
        if (line === '.') this.taken++;
        inData = line === 'DATA';
        socket.write(inData ? '354 go on\r\n' : line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
      }
    });
  });

  async start(): Promise<number> {
    await new Promise<void>((ready) => this.server.listen(0, '127.0.0.1', ready));
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.close();
  }
}
