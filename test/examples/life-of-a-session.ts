import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/packages/package';
import { send } from '../support/hosts/processes';

/** Where a session lives: the routes of the library, and a route that needs an access token. */
export interface Place {
  /** The address of the guard's routes: `http://localhost:3000/auth`. */
  auth: string;
  /** The address of a guarded route for GET. */
  guarded: string;
}

/** The status of a guarded route for a token. */
export const statusAt = async (url: string, token?: string): Promise<number> =>
  (await fetch(url, { headers: token ? { Authorization: `Bearer ${token}` } : {} })).status;

/** Signs in, and checks the answer. @returns the tokens */
export async function signIn({ auth }: Pick<Place, 'auth'>, email: string, password: string) {
  const { status, body } = await send(`${auth}/login`, 'POST', { email, password });
  expect(status).toBe(200);
  return { access: body.access_token!, refresh: body.refresh_token! };
}

/** Signs in, uses the guarded route, refreshes, signs out, and checks that every token is refused afterwards. */
export async function livesAndEnds({ auth, guarded }: Place, email: string, password: string): Promise<void> {
  expect(await statusAt(guarded)).toBe(401);
  const first = await signIn({ auth }, email, password);
  expect(await statusAt(guarded, first.access)).toBe(200);
  const { body: next } = await send(`${auth}/refresh`, 'POST', { refresh_token: first.refresh });
  expect(await statusAt(guarded, next.access_token)).toBe(200);
  expect((await send(`${auth}/logout`, 'POST', undefined, next.access_token)).status).toBe(204);
  expect(await statusAt(guarded, first.access)).toBe(401);
  expect(await statusAt(guarded, next.access_token)).toBe(401);
  expect((await send(`${auth}/refresh`, 'POST', { refresh_token: next.refresh_token })).status).toBe(401);
}

/** Sends invalid credentials, tokens and bodies. None of them is answered 2xx or 5xx. */
export async function refusesGarbage({ auth, guarded }: Place): Promise<void> {
  const post = async (path: string, body: string): Promise<number> => {
    const headers = { 'Content-Type': 'application/json' };
    return (await fetch(auth + path, { method: 'POST', headers, body })).status;
  };
  expect(await post('/login', '{"email":["ada@example.com"],"password":{}}')).toBe(422);
  expect(await post('/login', '{"email":"ada@example.com","password":"wrong"}')).toBe(422);
  expect(await post('/login', '{"email":')).toBe(400);
  expect(await post('/refresh', '{"refresh_token":"garbage"}')).toBe(401);
  expect(await post('/refresh', '[]')).toBe(401);
  for (const token of ['garbage', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.'])
    expect(await statusAt(guarded, token)).toBe(401);
}

/** Checks that the host offers each route that a `curl` command of the example's page calls. The first port is 3000. */
export async function offersRoutesOf(name: string, urls: readonly string[]): Promise<void> {
  const page = readFileSync(join(ROOT, 'examples', name, 'README.md'), 'utf8').replaceAll('\\\n', ' ');
  const commands = page.match(/^curl .*$/gm) ?? [];
  const statuses = await Promise.all(
    commands.map(async (command) => {
      const [, port, path] = /localhost:(\d+)(\/\S*)/.exec(command)!;
      const method = / -X (\w+)/.exec(command)?.[1] ?? (/ -d /.test(command) ? 'POST' : 'GET');
      const { status } = await fetch(urls[Number(port) - 3000]! + path, { method });
      return `${method} ${path} ${status === 404 || status === 405 || status >= 500 ? status : 'is offered'}`;
    }),
  );
  expect(statuses.length).toBeGreaterThan(2);
  expect(statuses.filter((line) => !line.endsWith(' is offered'))).toEqual([]);
}
