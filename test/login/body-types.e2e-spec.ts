import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Agent, request } from 'node:http';
import { TestApp } from '../support/hosts/app';
import { PASSWORD } from '../support/hosts/user-entities';

const ADA = 'ada@example.com';
const CREDENTIALS = JSON.stringify({ email: ADA, password: PASSWORD });
const VENDOR = 'application/vnd.host+json';
const UNSUPPORTED = { message: 'The type or encoding of the request is not supported.' };

interface Sent {
  method?: string;
  path?: string;
  /** Without it, the request has no Content-Type. */
  type?: string;
  body?: string;
  /** Sends the body without a Content-Length. */
  chunked?: boolean;
  token?: string;
}

/** A client with one connection that adds nothing to a request. */
class PlainClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly port: number) {}

  close(): void {
    this.agent.destroy();
  }

  send({ method = 'POST', path = '/auth/login', type, body, chunked, token }: Sent): Promise<[number, unknown]> {
    const headers = {
      ...(type !== undefined && { 'Content-Type': type }),
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(chunked
        ? { 'Transfer-Encoding': 'chunked' }
        : body !== undefined && { 'Content-Length': Buffer.byteLength(body) }),
    };
    return new Promise((resolve, reject) => {
      const call = request({ port: this.port, method, path, headers, agent: this.agent }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.once('end', () => resolve([response.statusCode!, text && JSON.parse(text)]));
      });
      call.once('error', reject);
      if (body) call.write(body);
      call.end();
    });
  }
}

/** What hosts may parse besides JSON and forms. */
function parseMore(app: TestApp['app'], fastify: boolean): void {
  if (fastify) {
    const host = app as NestFastifyApplication;
    host.useBodyParser(VENDOR, {}, (_request: unknown, body: Buffer, done: (error: null, value: unknown) => void) =>
      done(null, JSON.parse(body.toString())),
    );
    host.useBodyParser('application/octet-stream', {}, (_: unknown, body: Buffer, done: (e: null, v: Buffer) => void) =>
      done(null, body),
    );
  } else {
    const host = app as NestExpressApplication;
    host.useBodyParser('json', { type: ['application/json', VENDOR] });
    host.useBodyParser('text', { type: 'text/plain' });
    host.useBodyParser('raw', { type: 'application/octet-stream' });
  }
}

describe.each([
  ['Express', false],
  ['Fastify', true],
])('a request to a route of the library, on %s', (_adapter, fastify) => {
  const t = TestApp.forFile({ fastify, prepare: (app) => parseMore(app, fastify) });
  let client: PlainClient;

  beforeEach(async () => {
    await t.person(ADA);
    client = new PlainClient(Number(new URL(await t.app.getUrl()).port));
  });
  afterEach(() => client.close());

  it('is read if its body is JSON, a form, or of a type that the host parses', async () => {
    for (const type of ['application/json', 'APPLICATION/JSON', 'application/json; charset=UTF-8', VENDOR])
      expect([type, (await client.send({ type, body: CREDENTIALS }))[0]]).toEqual([type, 200]);
    const form = String(new URLSearchParams({ email: ADA, password: PASSWORD }));
    expect((await client.send({ type: 'application/x-www-form-urlencoded', body: form }))[0]).toBe(200);
    expect((await client.send({ type: 'application/json', body: CREDENTIALS, chunked: true }))[0]).toBe(200);
  });

  it.each([
    ['text/plain'],
    ['text/plain; charset=utf-8'],
    ['text/html'],
    ['application/xml'],
    ['application/octet-stream'],
    ['multipart/form-data; boundary=x'],
    ['application/problem+json'],
    ['application/json-patch+json'],
    ['application/jsonp'],
    ['json'],
    [''],
    [undefined],
  ])('is answered 415 if its body has the type %j, of known length or not', async (type) => {
    for (const chunked of [false, true]) {
      const answer = await client.send({ type, body: CREDENTIALS, chunked });
      expect([chunked, ...answer]).toEqual([chunked, 415, UNSUPPORTED]);
    }
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });

  it('is answered 415 for a large body of such a type, and the connection can be used again', async () => {
    const large = { type: 'text/html', body: 'x'.repeat(300_000) };
    for (const chunked of [false, true]) expect((await client.send({ ...large, chunked }))[0]).toBe(415);
    expect((await client.send({ type: 'application/json', body: CREDENTIALS }))[0]).toBe(200);
  });

  it('is answered 415 for such a body also where it reads none, and ends nothing', async () => {
    const { access_token: token } = await t.session();
    for (const [method, path] of [
      ['POST', '/auth/logout'],
      ['DELETE', '/auth/sessions'],
      ['DELETE', '/auth/sessions/others'],
      ['POST', '/auth/refresh'],
      ['POST', '/admin/auth/logout'],
    ] as const)
      for (const own of [token, undefined])
        expect(await client.send({ method, path, type: 'text/plain', body: 'x', token: own })).toEqual([
          415,
          UNSUPPORTED,
        ]);
    expect((await client.send({ method: 'GET', path: '/auth/sessions', token }))[0]).toBe(200);
  });

  it('needs no type without a body', async () => {
    const { access_token: token } = await t.session();
    const path = '/auth/sessions/others';
    expect((await client.send({ method: 'DELETE', path, token }))[0]).toBe(204);
    expect((await client.send({ method: 'DELETE', path, token, body: '' }))[0]).toBe(204);
    expect((await client.send({ method: 'DELETE', path, token, body: '', type: 'text/plain' }))[0]).toBe(204);
    // Fastify answers a body of unknown length without a type before it knows that it is empty.
    const unknown = await client.send({ method: 'DELETE', path, token, chunked: true });
    expect(unknown[0]).toBe(fastify ? 415 : 204);
    expect((await client.send({ path: '/auth/logout', token }))[0]).toBe(204);
  });

  it('is left to the host on the routes of the host', async () => {
    expect((await client.send({ path: '/open', type: 'text/plain', body: 'x' }))[0]).toBe(404);
  });
});
