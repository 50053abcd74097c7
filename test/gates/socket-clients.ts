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
function inbox(): { hear(said: SocketAnswer): void; next(): Promise<SocketAnswer> } {
  const [heard, waiting]: [SocketAnswer[], ((said: SocketAnswer) => void)[]] = [[], []];
  return {
    hear: (said) => {
      const first = waiting.shift();
      if (first) first(said);
      else heard.push(said);
    },
    next: () => {
      const said = heard.shift();
      return said ? Promise.resolve(said) : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

export const openSocketIo: OpenConnection = async (url, headers) => {
  const socket = io(url, { extraHeaders: headers, transports: ['websocket'], forceNew: true, reconnection: false });
  const { hear, next } = inbox();
  socket.onAny((event: string, data: unknown) => hear({ event, data }));
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
  const { hear, next } = inbox();
  socket.on('message', (text: Buffer) => hear(JSON.parse(String(text)) as SocketAnswer));
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
