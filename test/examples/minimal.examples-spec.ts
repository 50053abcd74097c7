import { type RunningExample, start } from '../support/example';
import { type Answer, send } from '../support/processes';

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a horse with wings' };

describe('the example minimal', () => {
  let host: RunningExample;

  beforeAll(async () => void (host = await start('minimal')));
  afterAll(() => host?.stop());

  const post = (path: string, body?: object, token?: string): Promise<Answer> =>
    send(host.url + path, 'POST', body, token);
  const hello = async (token?: string): Promise<[number, string]> => {
    const answer = await fetch(`${host.url}/hello`, { headers: token ? { Authorization: `Bearer ${token}` } : {} });
    return [answer.status, await answer.text()];
  };

  it('registers, signs in, guards its route, refreshes, and refuses everything after the sign-out', async () => {
    expect((await post('/auth/register', { ...ADA, password_confirmation: ADA.password })).status).toBe(200);
    const { status, body: first } = await post('/auth/login', { email: ADA.email, password: ADA.password });
    expect(status).toBe(200);
    expect((await hello())[0]).toBe(401);
    expect(await hello(first.access_token)).toEqual([200, 'Hello, Ada!']);

    const { body: next } = await post('/auth/refresh', { refresh_token: first.refresh_token });
    expect((await hello(next.access_token))[0]).toBe(200);
    expect((await post('/auth/logout', undefined, next.access_token)).status).toBe(204);
    expect((await hello(next.access_token))[0]).toBe(401);
    expect((await hello(first.access_token))[0]).toBe(401);
    expect((await post('/auth/refresh', { refresh_token: next.refresh_token })).status).toBe(401);
  });

  it.each<[string, object, number]>([
    ['/auth/login', { email: ['ada@example.com'], password: {} }, 422],
    ['/auth/login', { email: ADA.email, password: 'wrong' }, 422],
    ['/auth/register', { name: 7, email: 'none', password: 'short' }, 422],
    ['/auth/refresh', { refresh_token: 'garbage' }, 401],
  ])('refuses invalid input to %s: %p', async (path, body, status) => {
    expect((await post(path, body)).status).toBe(status);
  });

  it('refuses what is not JSON, and tokens that are none', async () => {
    const headers = { 'Content-Type': 'application/json' };
    expect((await fetch(`${host.url}/auth/login`, { method: 'POST', headers, body: '{"email":' })).status).toBe(400);
    expect((await hello('garbage'))[0]).toBe(401);
    expect(host.logs).not.toContain('ERROR');
  });
});
