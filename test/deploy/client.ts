import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';

/** An answer that came through the proxy. */
export interface ProxiedAnswer {
  /** 0: the connection failed. */
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface ProxiedRequest {
  body?: object;
  token?: string;
  headers?: OutgoingHttpHeaders;
  /** The address that the client connects from: one of 127.0.0.0/8. */
  from?: string;
}

/** Sends a request to a proxy with a certificate of its own, on a connection of its own. */
export function askProxy(
  origin: string,
  method: string,
  path: string,
  { body, token, headers = {}, from = '127.0.0.1' }: ProxiedRequest = {},
): Promise<ProxiedAnswer> {
  const { port } = new URL(origin);
  return new Promise((resolve) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        localAddress: from,
        agent: false,
        rejectUnauthorized: false,
        headers: {
          Host: `localhost:${port}`,
          Origin: origin,
          ...(body && { 'Content-Type': 'application/json' }),
          ...(token && { Authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
        answer.on('error', () => resolve({ status: 0, headers: {}, text }));
      },
    );
    sent.on('error', () => resolve({ status: 0, headers: {}, text: '' }));
    sent.end(body && JSON.stringify(body));
  });
}
