import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { hasUnparsedBody } from './route-guard';

type Received = Parameters<typeof hasUnparsedBody>[0];

const request = (headers: Received['headers'], body?: unknown, method = 'POST'): Received => ({
  method,
  headers,
  body,
});
const json = (length: number) => ({ 'content-type': 'application/json; charset=utf-8', 'content-length': `${length}` });
const text = (length: number) => ({ 'content-type': 'text/plain', 'content-length': `${length}` });
const chunked = { 'transfer-encoding': 'chunked' };

describe('a body that no parser has read', () => {
  it.each<[string, Received, boolean]>([
    ['no body', request({}), false],
    ['no body with a length', request({ 'content-length': '0' }), false],
    ['an empty body of a type', request(text(0)), false],
    ['no body on Fastify', request({}, null), false],
    ['an empty text', request(text(0), ''), false],
    ['an object', request(json(2), {}), false],
    ['fields without a prototype, as of a form', request(text(2), Object.create(null)), false],
    ['a list', request(json(2), []), false],
    ['null in JSON', request(json(4), null), false],
    ['a text in JSON', request(json(6), 'text'), false],
    ['a text in JSON, with the type in capitals', request({ 'content-type': 'APPLICATION/JSON ;a=b' }, 'x'), false],
    ['a number in JSON', request(json(1), 1), false],
    ['a body of GET', request(text(2), undefined, 'GET'), false],
    ['a body of HEAD', request(text(2), undefined, 'HEAD'), false],
    ['a body without a type', request({ 'content-length': '2' }), true],
    ['a body of another type', request(text(2)), true],
    ['a body of DELETE', request(text(2), undefined, 'DELETE'), true],
    ['JSON on a host without a parser', request(json(2)), true],
    ['a text that a parser of texts has read', request(text(2), '{}'), true],
    [
      'JSON that a parser of texts has read under a similar type',
      request({ 'content-type': 'application/jsonp' }, '{}'),
      true,
    ],
    ['bytes', request(text(2), Buffer.from('{}')), true],
    ['a stream', request(text(2), Readable.from(['{}'])), true],
  ])('%s', async (_, received, isUnparsed) => expect(await hasUnparsedBody(received)).toBe(isUnparsed));

  it.each<[string, Readable, boolean]>([
    ['is present if a byte arrives', Readable.from([Buffer.from('x')]), true],
    ['is absent if none arrives', Readable.from([]), false],
  ])('of unknown length %s', async (_, raw, isUnparsed) => {
    expect(await hasUnparsedBody(Object.assign(raw, request(chunked)))).toBe(isUnparsed);
    await finished(raw.resume());
    // Fastify wraps the request of Node.
    expect(await hasUnparsedBody({ ...request(chunked), raw: raw as never })).toBe(false);
  });

  it('of unknown length is absent if the connection ends before', async () => {
    const raw = new Readable({ read: () => undefined });
    const isUnparsed = hasUnparsedBody(Object.assign(raw, request(chunked)));
    raw.destroy();
    expect(await isUnparsed).toBe(false);
  });
});
