import { io } from 'socket.io-client';
import { WebSocket } from 'ws';

/** The response to a message. */
export interface SocketAnswer {
  event: string;
  data: unknown;
}

/** An open connection of one client. */
export interface Connection {
  /** Sends a message and returns the next message from the server. */
  say(event: string, data?: unknown): Promise<SocketAnswer>;
  close(): void;
}

export type OpenConnection = (url: string, headers: Record<string, string>) => Promise<Connection>;

/** The received messages in their order. */
function inbox(): { receive(message: SocketAnswer): void; next(): Promise<SocketAnswer> } {
  const [received, waiting]: [SocketAnswer[], ((message: SocketAnswer) => void)[]] = [[], []];
  return {
    receive: (message) => {
      const first = waiting.shift();
      if (first) first(message);
      else received.push(message);
    },
    next: () => {
      const message = received.shift();
      return message ? Promise.resolve(message) : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

export const openSocketIo: OpenConnection = async (url, headers) => {
  const socket = io(url, { extraHeaders: headers, transports: ['websocket'], forceNew: true, reconnection: false });
  const { receive, next } = inbox();
  socket.onAny((event: string, data: unknown) => receive({ event, data }));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('connect_error', reject);
  });
  return {
    say: (event, data) => {
      if (data === undefined) socket.emit(event);
      else socket.emit(event, data);
      return next();
    },
    close: () => void socket.close(),
  };
};

export const openWs: OpenConnection = async (url, headers) => {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers });
  const { receive, next } = inbox();
  socket.on('message', (text: Buffer) => receive(JSON.parse(String(text)) as SocketAnswer));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve).once('error', reject);
  });
  return {
    say: (event, data) => {
      socket.send(JSON.stringify({ event, data }));
      return next();
    },
    close: () => socket.close(),
  };
};
