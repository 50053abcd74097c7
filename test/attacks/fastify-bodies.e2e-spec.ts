import { gzipSync } from 'node:zlib';
import { type Attack, Attacked } from './support/attacked';
import { ROUTES, type Route } from './support/routes';
import type { Sent } from './support/wire';
import { describeWithRedis } from '../support/with-redis';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const SECRET_OF_THE_BODY = 'hunter-two-and-a-half';
/** One byte more than Fastify takes by itself. */
const TOO_MUCH = 1024 * 1024 + 1;

type Body = Pick<Sent, 'body' | 'headers' | 'chunked'>;

/** Bodies that cannot be read, and what they are answered. */
const UNREADABLE: readonly [string, number, Body][] = [
  ...[
    '',
    '{',
    '"',
    'NaN',
    '\0',
    "{'a':1}",
    '{"a":1}x',
    '{"email":"a\0b"}',
    '{"email":"\\ud8"}',
    '{"__proto__":{"admin":true}}',
    '{"constructor":{"prototype":{"admin":true}}}',
    `{"password":"${SECRET_OF_THE_BODY}"`,
    '['.repeat(50_000),
  ].map((body): [string, number, Body] => [`JSON ${body.slice(0, 30)}`, 400, { body, headers: JSON_TYPE }]),
  ['bytes that are no text', 400, { body: Buffer.from([0xff, 0xfe, 0x00, 0xd8]), headers: JSON_TYPE }],
  ['a gzip', 400, { body: gzipSync('{}'.repeat(TOO_MUCH)), headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } }],
  ...['text/html', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonp', 'json', ''].map(
    (type): [string, number, Body] => [`type ${type}`, 415, { body: '{}', headers: { 'Content-Type': type } }],
  ),
];

/** Bodies that can be read, and hold nothing. */
const EMPTY: readonly [string, Body][] = [
  ...['true', 'null', '1', '"text"', '[]', '{"email":"\\ud800"}'].map((body): [string, Body] => [
    `JSON ${body}`,
    { body, headers: JSON_TYPE },
  ]),
  ['bytes that are no text, in quotes', { body: Buffer.from([0x22, 0xff, 0xd8, 0x22]), headers: JSON_TYPE }],
  ['200 KB of depth', { body: `{"email":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, headers: JSON_TYPE }],
  ['a form of 5,000 fields', { body: 'a=1&'.repeat(5000), headers: FORM }],
  ['a form 60 deep', { body: `a${'[b]'.repeat(60)}=1`, headers: FORM }],
  ['a form of no text', { body: 'email=%ff%zz%d8%00', headers: FORM }],
  ['a text', { body: '{"email":"a@example.com"}', headers: { 'Content-Type': 'text/plain' } }],
  ['no body', {}],
];

describeWithRedis('a body that cannot be read by Fastify', () => {
  let host: Attacked;

  beforeAll(async () => (host = await Attacked.start({ fastify: true })));
  afterAll(() => host.stop());

  // Fastify reads no body of a GET.
  const routes = ROUTES.filter(({ method }) => method !== 'GET');
  const attack = (route: Route, name: string, body: Body, status: readonly number[]): Attack => ({
    name: `${route.name}, ${name}`,
    send: { method: route.method, path: route.path, ...body },
    status,
    secrets: [SECRET_OF_THE_BODY],
  });

  it.each(UNREADABLE)('%s is told so with %i, by every route', async (name, status, body) => {
    expect(await host.withstand(routes.map((route) => attack(route, name, body, [status])))).toEqual([]);
  });

  it.each(EMPTY)('%s is refused like any other', async (name, body) => {
    const refusals = ({ needs, refuses }: Route): number[] => (needs === 'nothing' ? [refuses, 422] : [401]);
    expect(await host.withstand(routes.map((route) => attack(route, name, body, refusals(route))))).toEqual([]);
  });

  it.each([
    ['says so before', `Content-Length: ${TOO_MUCH}\r\n\r\n`],
    ['does not', `Transfer-Encoding: chunked\r\n\r\n${TOO_MUCH.toString(16)}\r\n${'a'.repeat(TOO_MUCH)}`],
  ])('is refused as soon as it is known to be too large, where it %s', async (_, rest) => {
    for (const { method, path } of routes) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
      const answer = await host.wire.raw(head + rest, false);
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toMatch(/\r\n\r\n\{"message":"The request is too large\."\}$/);
    }
  });

  it('is the host`s to answer on the host`s own routes, and where there are none', async () => {
    for (const path of ['/open', '/auth/login/more', '/nowhere', '/auth/sessions']) {
      const { text } = await host.wire.send({ method: 'POST', path, body: '{', headers: JSON_TYPE });
      expect(JSON.parse(text)).toMatchObject({ statusCode: 400 });
    }
  });

  it('leaves the process whole', async () => {
    expect(await host.aftermath([SECRET_OF_THE_BODY])).toEqual([]);
  });
});
