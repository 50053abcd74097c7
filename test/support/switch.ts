import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** An address that leads to one server and then to another, as one does behind which a failover happens. */
export class Switch {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private port: number,
  ) {
    server.on('connection', (near) => {
      const far = connect(this.port, '127.0.0.1');
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => [near, far].forEach((end) => end.destroy()));
      }
      near.pipe(far).pipe(near);
    });
  }

  static async to(port: number): Promise<Switch> {
    const server = createServer();
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    return new Switch(server, port);
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Leads to another server from now on, and drops the connections to the one before. */
  turnTo(port: number): void {
    this.port = port;
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  close(): void {
    this.server.close();
    this.turnTo(0);
  }
}
