import type { DynamicModule, LogLevel, NestApplicationOptions, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpAdapter } from '../../test/support/hosts/adapter';
import { countWork, statsOf } from './counting';

/** The HS256 secret of every application, so that their tokens cost the same to verify. */
export const SECRET = 'benchmark-secret-of-every-application-0123456789';

/** The body of guarded and empty routes, so that they differ only in the guard. */
export const ANSWER = { ok: true };

/** The number of rows in the user table. */
export const PEOPLE = 1000;

/** The cheapest password hash that the library accepts: a day of logins then takes minutes. */
export const CHEAPEST = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** Seconds that an access token is valid during the churn. */
export const CHURN_ACCESS_TTL = 5;

/** Tokens of one session in the format of every application. */
export interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** Serves an application on a free loopback port with the configured adapter, and reports the port to the parent. */
export async function serve(module: Type | DynamicModule, options: NestApplicationOptions = {}): Promise<void> {
  begin();
  const adapter = httpAdapter({
    fastify: process.env.BENCH_ADAPTER === 'fastify',
    behindProxy: process.env.BENCH_PROXY !== undefined,
  });
  // A benchmark causes refusals intentionally, so they are not logged.
  const logger: LogLevel[] = process.env.BENCH_QUIET ? ['error'] : ['error', 'warn'];
  const app = await NestFactory.create(module, adapter, { logger, ...options });
  await app.listen(0, '127.0.0.1');
  report(app.getHttpServer() as Server);
}

/** The response of a plain server: a status and a JSON value. */
export type Answer = [status: number, body: unknown];

/** Serves without a framework. `answer` gets the request, its path and its query. */
export function servePlain(
  answer: (request: IncomingMessage, path: string, query: URLSearchParams) => Promise<Answer> | Answer,
): void {
  begin();
  const server = createServer((request, response) => {
    const [path, query] = request.url!.split('?') as [string, string | undefined];
    const parameters = new URLSearchParams(query);
    const send = ([status, body]: Answer): void => {
      const text = JSON.stringify(body);
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.end(text);
    };
    if (path === '/bench-stats') return send([200, statsOf(parameters.get('do') ?? '')]);
    Promise.resolve(answer(request, path, parameters)).then(send, (error: Error) => send([500, error.message]));
  });
  server.listen(0, '127.0.0.1', () => report(server));
}

/** The body of a request as text. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function begin(): void {
  countWork();
  // A killed load generator sends no message, but its channel closes.
  process.once('disconnect', () => process.exit());
}

function report(server: Server): void {
  process.send?.({ port: (server.address() as AddressInfo).port });
}
