import { FakeServer, LOGIN, ORDERS } from './server.testkit.js';

describe('an answer to `request`', () => {
  let server: FakeServer;
  beforeEach(() => void (server = new FakeServer()));
  afterEach(() => server.stop());

  const answer = async (text: string, type: string | null, accept?: string) => {
    const client = await server.signedIn();
    server.answer = ({ path }) => (path === '/orders' ? { text, headers: { 'Content-Type': type! } } : undefined);
    return client.request('GET', ORDERS, undefined, { headers: accept ? { Accept: accept } : {} });
  };

  it.each<[string, string, unknown]>([
    ['text/csv; charset=utf-8', 'id,name\n1,Ada\n', 'id,name\n1,Ada\n'],
    ['text/csv', '42', '42'],
    ['text/plain', 'true', 'true'],
    ['application/xml', '<orders/>', '<orders/>'],
    ['application/x-ndjson', '', null],
    ['text/csv', '', null],
    // Nest sends a text, and a number, so.
    ['text/html; charset=utf-8', 'Hello World!', 'Hello World!'],
    ['text/html; charset=utf-8', '42', 42],
    ['application/json', '{"a":1}', { a: 1 }],
    ['application/problem+json', '{"a":1}', { a: 1 }],
    ['', '{"a":1}', { a: 1 }],
  ])('of the type %s, %j, is %j', async (type, text, expected) => {
    expect(await answer(text, type)).toEqual(expected);
  });

  it.each([
    ['application/json', '{"a":'],
    ['', '{"a":'],
    ['text/html', '<!doctype html><title>Sign in to the network</title>'],
    ['text/html', '\n <html>'],
  ])('of the type %s, %j, is none', async (type, text) => {
    await expect(answer(text, type)).rejects.toMatchObject({ status: 0, reason: 'unreachable' });
  });

  it('has the type that the page asks for', async () => {
    await answer('a', 'text/csv', 'text/csv');
    expect(server.last.headers.get('Accept')).toBe('text/csv');
    await answer('1', 'application/json');
    expect(server.last.headers.get('Accept')).toBe('application/json');
  });

  it('of the guard is JSON, whatever a proxy says', async () => {
    server.answer = () => ({ text: 'id,name', headers: { 'Content-Type': 'text/csv' } });
    await expect(server.client().login(LOGIN)).rejects.toMatchObject({ status: 0, reason: 'unreachable' });
  });

  it('with an error in a text has its status', async () => {
    const client = await server.signedIn();
    server.answer = () => ({ status: 400, text: 'Bad.', headers: { 'Content-Type': 'text/plain' } });
    await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 400, errors: {}, reason: null });
  });
});
