import { gzipSync } from 'node:zlib';
import { type Attack, AttackedHost } from './support/attacked-host';
import { ROUTES, type Route } from './support/routes';
import { partition } from './support/partition';
import type { RawRequest } from './support/raw-client';
import { describeWithRedis } from '../support/stores/with-redis';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const SECRET_OF_THE_BODY = 'hunter-two-and-a-half';
const TEN_MEGABYTES = Buffer.alloc(10 * 1024 * 1024, 'a');
const deep = (levels: number): string => `{"email":${'['.repeat(levels)}${']'.repeat(levels)}}`;

type Body = Pick<RawRequest, 'body' | 'headers' | 'chunked'>;

/** Bodies that cannot be read, with the status that they are answered. */
const UNREADABLE: readonly [string, number, Body][] = [
  ...[
    '{',
    '[1,',
    '"',
    'nul',
    '{"a":}',
    "{'a':1}",
    '{"a":1}x',
    '{"a":1,}',
    '{a:1}',
    'NaN',
    '\0',
    '{"email":"a\0b"}',
    '{"email":"a\nb"}',
    '{"email":"\\ud8"}',
    'true',
    'null',
    '1',
    '"text"',
    `{"password":"${SECRET_OF_THE_BODY}"`,
    `${SECRET_OF_THE_BODY}`,
    '['.repeat(50_000),
  ].map((body): [string, number, Body] => [`JSON ${body.slice(0, 30)}`, 400, { body, headers: JSON_TYPE }]),
  ['bytes that are not text', 400, { body: Buffer.from([0xff, 0xfe, 0x00, 0xd8]), headers: JSON_TYPE }],
  [
    'JSON of another charset',
    400,
    { body: '{"email":"x"}', headers: { 'Content-Type': 'application/json; charset=utf-16be' } },
  ],
  ['an unknown charset', 415, { body: '{}', headers: { 'Content-Type': 'application/json; charset=x-evil' } }],
  ['a charset other than UTF', 415, { body: '{}', headers: { 'Content-Type': 'application/json; charset=ibm037' } }],
  ['an unknown encoding', 415, { body: '{}', headers: { ...JSON_TYPE, 'Content-Encoding': 'x-evil' } }],
  [
    'plain text declared as gzip',
    400,
    { body: '{"email":"x"}', headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } },
  ],
  [
    'truncated gzip',
    400,
    { body: gzipSync('{}'.repeat(9)).subarray(0, 12), headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } },
  ],
  ['a gzip of 10 MB', 413, { body: gzipSync(TEN_MEGABYTES), headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } }],
  ['200 KB of nesting', 413, { body: deep(100_000), headers: JSON_TYPE }],
  ['a form of 5,000 fields', 413, { body: 'a=1&'.repeat(5000), headers: FORM }],
  ['a form 60 deep', 400, { body: `a${'[b]'.repeat(60)}=1`, headers: FORM }],
];

/** Types that no parser of a host reads. */
const OTHER_TYPES = [
  'text/plain',
  'text/html',
  'application/xml',
  'multipart/form-data; boundary=x',
  'application/json-patch+json',
  'json',
  '',
  'application/json, text/plain',
];

/** Bodies that no parser reads, because of their type. */
const UNPARSED: readonly [string, Body][] = [
  ...OTHER_TYPES.map((type): [string, Body] => [
    `type ${type}`,
    { body: '{"email":"a@example.com"}', headers: { 'Content-Type': type } },
  ]),
  ['no content type', { body: '{"email":"a@example.com"}' }],
];

const ABSENT: readonly [string, Body][] = [
  ['no body', {}],
  ['an empty body', { body: '', headers: JSON_TYPE }],
];

describeWithRedis('a body that cannot be read by Express', () => {
  let host: AttackedHost;

  beforeAll(async () => (host = await AttackedHost.start({ fastify: false })));
  afterAll(() => host.stop());

  const attack = (route: Route, name: string, body: Body, status: readonly number[]): Attack => ({
    name: `${route.name}, ${name}`,
    send: { method: route.method, path: route.path, ...body },
    status,
    secrets: [SECRET_OF_THE_BODY],
  });
  /** The response to a request without credentials. The body has no effect on it. */
  const unseen = ({ needs, refuses, done }: Route): number[] => (needs === 'nothing' ? [refuses, done] : [401]);

  it.each(UNREADABLE.map((one, i) => [...one, i] as const))('(%s) is answered %i', async (name, status, body, i) => {
    const attacks = partition(ROUTES, i, 6).map((route) => attack(route, name, body, [status]));
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it.each(UNPARSED.map((one, i) => [...one, i] as const))('(%s) is answered 415', async (name, body, i) => {
    // A body of a GET request has no effect.
    const status = (route: Route): number[] => (route.method === 'GET' ? unseen(route) : [415]);
    const attacks = partition(ROUTES, i, 6).map((route) => attack(route, name, body, status(route)));
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it.each(ABSENT.map((one, i) => [...one, i] as const))('(%s) counts as no body', async (name, body, i) => {
    const attacks = partition(ROUTES, i, 3).map((route) => attack(route, name, body, unseen(route)));
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('is refused if it has 10 MB, with and without a Content-Length', async () => {
    for (const chunked of [false, true]) {
      const large = { body: TEN_MEGABYTES, headers: JSON_TYPE, chunked };
      const posts = ROUTES.filter(({ method }) => method === 'POST');
      const attacks = partition(posts, Number(chunked), 3).map((route) =>
        attack(route, `10 MB, ${chunked ? 'in pieces' : 'at once'}`, large, [413]),
      );
      expect(await host.withstand(attacks)).toEqual([]);
    }
  });

  it('is answered by the host on the host`s own routes', async () => {
    for (const path of ['/open', '/auth/login/more', '/auth', '/nowhere', '/auth/sessions']) {
      const { text } = await host.wire.send({ method: 'POST', path, body: '{', headers: JSON_TYPE });
      expect(JSON.parse(text)).toMatchObject({ statusCode: 400 });
    }
  });

  it('is answered the same for every spelling of the path: other case, a final slash, a query', async () => {
    for (const path of [
      '/AUTH/Login',
      '/auth/login/',
      '/auth/login?x=1',
      '/auth/passkeys/x',
      '/auth/passkeys/%F0%9F%98%80',
    ]) {
      const method = path.includes('passkeys') ? 'PATCH' : 'POST';
      const { status, text } = await host.wire.send({ method, path, body: '{', headers: JSON_TYPE });
      expect([status, text]).toEqual([400, '{"message":"The request cannot be read."}']);
    }
  });

  it('does not harm the process', async () => {
    expect(await host.aftermath([SECRET_OF_THE_BODY])).toEqual([]);
  });
});

describeWithRedis('a body on a host without a size limit', () => {
  let host: AttackedHost;

  beforeAll(
    async () =>
      (host = await AttackedHost.start({
        fastify: false,
        bodyLimit: 20 * 1024 * 1024,
        options: { storeTimeoutMs: 30_000 },
      })),
  );
  afterAll(() => host.stop());

  const VAST: readonly [string, () => unknown][] = [
    ['a string of 10 MB', () => TEN_MEGABYTES.toString()],
    ['10 MB of spaces', () => ' '.repeat(TEN_MEGABYTES.length)],
    ['10 MB of emoji', () => '😀'.repeat(TEN_MEGABYTES.length / 4)],
    ['an address of 5 MB', () => `${'a.'.repeat(2_500_000)}@example.com`],
    ['a list of a million', () => Array.from({ length: 1e6 }, () => 0)],
  ];

  it.each(VAST.map((one, i) => [...one, i] as const))(
    'with %s in a field is refused like any invalid value',
    async (name, make, i) => {
      const value = make();
      const routes = ROUTES.filter(({ needs, fields }) => needs === 'nothing' && fields);
      for (const route of partition(routes, i, VAST.length)) {
        const field = route.fields!.at(0)!;
        const one: Attack = {
          name: `${route.name} ${field}, ${name}`,
          send: { method: 'POST', path: route.path, body: { [field]: value } },
          status: [401, 422],
        };
        expect(await host.withstand([one])).toEqual([]);
      }
    },
  );

  it('with 100,000 levels of nesting in a field is refused like any invalid value', async () => {
    const attacks = ROUTES.filter(({ needs, fields }) => needs === 'nothing' && fields).flatMap((route) =>
      route.fields!.flatMap((field, place) =>
        partition(['[', '{"a":'] as const, place, 2).map((open): Attack => {
          const close = open === '[' ? ']' : '}';
          const value = `${open.repeat(100_000)}1${close.repeat(100_000)}`;
          const rest = route.objects ? '"ceremony_id":"00000000-0000-4000-8000-000000000000",' : '';
          return {
            name: `${route.name} ${field} ${open}`,
            send: { method: 'POST', path: route.path, body: `{${rest}"${field}":${value}}`, headers: JSON_TYPE },
            status: [401, 422],
          };
        }),
      ),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('does not harm the process', async () => {
    expect(await host.aftermath()).toEqual([]);
  });
});

/** One byte more than the default body limit of Fastify. */
const TOO_MUCH = 1024 * 1024 + 1;

/** Bodies that cannot be read, with the status that they are answered. */
const UNREADABLE_BY_FASTIFY: readonly [string, number, Body][] = [
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
  ['bytes that are not text', 400, { body: Buffer.from([0xff, 0xfe, 0x00, 0xd8]), headers: JSON_TYPE }],
  ['a gzip', 400, { body: gzipSync('{}'.repeat(TOO_MUCH)), headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } }],
  ...UNPARSED.map(([name, body]): [string, number, Body] => [name, 415, body]),
];

/** Bodies that can be read but contain no field. */
const EMPTY_TO_FASTIFY: readonly [string, Body][] = [
  ...['true', 'null', '1', '"text"', '[]', '{"email":"\\ud800"}'].map((body): [string, Body] => [
    `JSON ${body}`,
    { body, headers: JSON_TYPE },
  ]),
  ['bytes that are not text, in quotes', { body: Buffer.from([0x22, 0xff, 0xd8, 0x22]), headers: JSON_TYPE }],
  ['200 KB of nesting', { body: `{"email":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, headers: JSON_TYPE }],
  ['a form of 5,000 fields', { body: 'a=1&'.repeat(5000), headers: FORM }],
  ['a form 60 deep', { body: `a${'[b]'.repeat(60)}=1`, headers: FORM }],
  ['a form with bytes that are not text', { body: 'email=%ff%zz%d8%00', headers: FORM }],
  ['no body', {}],
];

describeWithRedis('a body that cannot be read by Fastify', () => {
  let host: AttackedHost;

  beforeAll(async () => (host = await AttackedHost.start({ fastify: true })));
  afterAll(() => host.stop());

  // Fastify does not read the body of a GET request.
  const routes = ROUTES.filter(({ method }) => method !== 'GET');
  const attack = (route: Route, name: string, body: Body, status: readonly number[]): Attack => ({
    name: `${route.name}, ${name}`,
    send: { method: route.method, path: route.path, ...body },
    status,
    secrets: [SECRET_OF_THE_BODY],
  });

  it.each(UNREADABLE_BY_FASTIFY.map((one, i) => [...one, i] as const))(
    '(%s) is answered %i',
    async (name, status, body, i) => {
      expect(await host.withstand(partition(routes, i, 3).map((route) => attack(route, name, body, [status])))).toEqual(
        [],
      );
    },
  );

  it.each(EMPTY_TO_FASTIFY.map((one, i) => [...one, i] as const))(
    '(%s) is refused like any invalid body',
    async (name, body, i) => {
      const refusals = ({ needs, refuses }: Route): number[] => (needs === 'nothing' ? [refuses, 422] : [401]);
      const attacks = partition(routes, i, 3).map((route) => attack(route, name, body, refusals(route)));
      expect(await host.withstand(attacks)).toEqual([]);
    },
  );

  it.each([
    ['is in the Content-Length', `Content-Length: ${TOO_MUCH}\r\n\r\n`],
    ['is found in a chunk', `Transfer-Encoding: chunked\r\n\r\n${TOO_MUCH.toString(16)}\r\n${'a'.repeat(TOO_MUCH)}`],
  ])('is refused at once if its excessive size %s', async (_, rest) => {
    for (const { method, path } of routes) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
      const answer = await host.wire.raw(head + rest, false);
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toMatch(/\r\n\r\n\{"message":"The request is too large\."\}$/);
    }
  });

  it('is answered by the host on the host`s own routes and on unknown paths', async () => {
    for (const path of ['/open', '/auth/login/more', '/nowhere', '/auth/sessions']) {
      const { text } = await host.wire.send({ method: 'POST', path, body: '{', headers: JSON_TYPE });
      expect(JSON.parse(text)).toMatchObject({ statusCode: 400 });
    }
  });

  it('does not harm the process', async () => {
    expect(await host.aftermath([SECRET_OF_THE_BODY])).toEqual([]);
  });
});
