import { unreadable } from './parser-errors';

const failure = (more: object): Error => Object.assign(new Error('quotes the body'), more);

describe('a failure before any route', () => {
  it.each([
    ['JSON that is none', failure({ status: 400, type: 'entity.parse.failed' }), 400],
    ['a body that is too large', failure({ status: 413, type: 'entity.too.large' }), 413],
    ['an unknown encoding', failure({ status: 415, type: 'encoding.unsupported' }), 415],
    ['what is no gzip', failure({ status: 400, code: 'Z_DATA_ERROR' }), 400],
    ['JSON that is none, at Fastify', failure({ statusCode: 400, code: 'FST_ERR_CTP_INVALID_JSON_BODY' }), 400],
    ['a body that is too large for Fastify', failure({ statusCode: 413, code: 'FST_ERR_CTP_BODY_TOO_LARGE' }), 413],
    ['a type unknown to Fastify', failure({ statusCode: 415, code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }), 415],
    ['a broken escape', Object.assign(new URIError('%'), { status: 400 }), 400],
  ])('of %s is one of reading', (_, error, status) => expect(unreadable(error)).toMatchObject({ status }));

  it.each([
    ['the host`s own refusal', failure({ status: 400 })],
    ['the host`s own check of a body', failure({ status: 403, type: 'entity.verify.failed' })],
    ['a fault of the parser', failure({ status: 500, type: 'stream.not.readable' })],
    ['a fault of Fastify`s', failure({ statusCode: 500, code: 'FST_ERR_CTP_INVALID_TYPE' })],
    ['a refusal of Fastify`s own', failure({ statusCode: 400, code: 'FST_ERR_VALIDATION' })],
    ['any other', failure({})],
    ['a text', 'no'],
    ['nothing', undefined],
  ])('of %s is the host`s to answer', (_, error) => expect(unreadable(error)).toBeNull());
});
