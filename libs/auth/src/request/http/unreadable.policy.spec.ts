import { pathOf } from '../gates/library-routes';
import { unreadable } from './parser-errors';

const failure = (more: object): Error => Object.assign(new Error('quotes the body'), more);

describe('an error before routing', () => {
  it.each([
    ['invalid JSON', failure({ status: 400, type: 'entity.parse.failed' }), 400],
    ['a body that is too large', failure({ status: 413, type: 'entity.too.large' }), 413],
    ['an unknown encoding', failure({ status: 415, type: 'encoding.unsupported' }), 415],
    ['invalid gzip data', failure({ status: 400, code: 'Z_DATA_ERROR' }), 400],
    ['invalid JSON on Fastify', failure({ statusCode: 400, code: 'FST_ERR_CTP_INVALID_JSON_BODY' }), 400],
    ['a body that is too large on Fastify', failure({ statusCode: 413, code: 'FST_ERR_CTP_BODY_TOO_LARGE' }), 413],
    ['an unknown media type on Fastify', failure({ statusCode: 415, code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }), 415],
    ['an invalid percent encoding', Object.assign(new URIError('%'), { status: 400 }), 400],
  ])('about %s means that the request is unreadable', (_, error, status) =>
    expect(unreadable(error)).toMatchObject({ status }),
  );

  it.each([
    ['a refusal of the host', failure({ status: 400 })],
    ['a check of the body by the host', failure({ status: 403, type: 'entity.verify.failed' })],
    ['an internal error of the parser', failure({ status: 500, type: 'stream.not.readable' })],
    ['an internal error of Fastify', failure({ statusCode: 500, code: 'FST_ERR_CTP_INVALID_TYPE' })],
    ['a validation error of Fastify', failure({ statusCode: 400, code: 'FST_ERR_VALIDATION' })],
    ['an unknown cause', failure({})],
    ['a thrown text', 'no'],
    ['undefined', undefined],
  ])('about %s is left to the host', (_, error) => expect(unreadable(error)).toBeNull());
});

describe('the path of a request target', () => {
  it.each([
    ['/auth/login', '/auth/login'],
    ['/auth/login?a=/b', '/auth/login'],
    ['/auth/login#a', '/auth/login'],
    ['/auth/%6cogin', '/auth/login'],
    ['/%61%75th/l%6Fgin?%61', '/auth/login'],
    ['/auth%2Flogin', '/auth%2Flogin'],
    ['/auth/%zz', '/auth/%zz'],
    ['/auth/%FF', '/auth/%FF'],
    ['http://api.example.com/auth/login', '/auth/login'],
    ['HTTPS://api.example.com:8443/auth/login?a', '/auth/login'],
    ['', ''],
  ])('%s is %s', (target, path) => expect(pathOf(target)).toBe(path));
});
