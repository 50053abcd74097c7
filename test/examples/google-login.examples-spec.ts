import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, blocksOf, fileOf } from '../docs/blocks';
import { type RunningExample, start } from '../support/packages/example';

const ADA = 'ada@example.com';

/** A browser without scripts: it keeps cookies for each host, and follows redirects one by one. */
class Visitor {
  readonly cookies = new Map<string, Map<string, string>>();

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url);
    const jar = this.cookies.get(origin) ?? new Map<string, string>();
    this.cookies.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value) jar.set(name!, value);
      else jar.delete(name!);
    }
    return answer;
  }

  /** The address to which an answer redirects. */
  redirection = (answer: Response): string => new URL(answer.headers.get('location')!, answer.url).href;
}

describe('the example google-login', () => {
  let host: RunningExample;

  beforeAll(async () => void (host = await start('google-login')));
  afterAll(() => host?.stop());

  const callbackUrl = (query: string): string => `${host.urls.app}/google/callback?${query}`;

  /** Goes to the provider and signs in there. @returns the address of the callback, which is not yet requested */
  async function atProvider(visitor: Visitor, login = ADA): Promise<string> {
    let url = visitor.redirection(await visitor.send(`${host.urls.app}/google`));
    while (!url.startsWith(callbackUrl(''))) {
      const answer = await visitor.send(url);
      if (answer.status === 200) {
        const page = await answer.text();
        const [prompt] = /(?<=name="prompt" value=")\w+/.exec(page) ?? [];
        const body = new URLSearchParams({ prompt: prompt!, login, password: 'any' });
        const action = /<form [^>]*action="([^"]+)"/.exec(page)![1]!;
        url = visitor.redirection(await visitor.send(new URL(action, url).href, { method: 'POST', body }));
      } else url = visitor.redirection(answer);
    }
    return url;
  }

  const signIn = async (login = ADA, visitor = new Visitor()) => visitor.send(await atProvider(visitor, login));

  /** The user that the page of a visitor shows. */
  async function userOf(visitor: Visitor): Promise<unknown> {
    const refreshed = await visitor.send(`${host.urls.app}/auth/refresh`, { method: 'POST' });
    if (!refreshed.ok) return null;
    const { access_token: token } = (await refreshed.json()) as { access_token: string };
    const headers = { Authorization: `Bearer ${token}` };
    return (await fetch(`${host.urls.app}/me`, { headers })).json();
  }

  const refused = async (answer: Response, visitor: Visitor): Promise<void> => {
    expect([answer.status, await userOf(visitor)]).toEqual([403, null]);
  };

  it('signs in, and finds the same account at the next time', async () => {
    const [first, second] = [new Visitor(), new Visitor()];
    const answer = await signIn(ADA, first);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/']);
    expect(answer.headers.getSetCookie().join()).toMatch(/__Host-refresh=[\w-]{71}/);
    expect(await userOf(first)).toEqual({ name: 'ada', email: ADA });
    await signIn(ADA, second);
    expect(await userOf(second)).toEqual({ name: 'ada', email: ADA });
  });

  it('sends state, nonce and a PKCE challenge, new ones for each attempt, and never the verifier', async () => {
    const attempts = await Promise.all(
      [new Visitor(), new Visitor()].map(async (visitor) => {
        const { searchParams } = new URL(visitor.redirection(await visitor.send(`${host.urls.app}/google`)));
        const [cookie] = [...visitor.cookies.get(host.urls.app!)!.values()];
        return { params: searchParams, parts: cookie!.split('.') };
      }),
    );
    for (const {
      params,
      parts: [state, nonce, verifier],
    } of attempts) {
      expect(params.get('code_challenge_method')).toBe('S256');
      expect([params.get('state'), params.get('nonce')]).toEqual([state, nonce]);
      expect(params.toString()).not.toContain(verifier);
    }
    expect(new Set(attempts.flatMap(({ parts }) => parts)).size).toBe(6);
  });

  it('refuses an address that is not verified, and one that has an account here', async () => {
    const visitor = new Visitor();
    await refused(await signIn('unverified@example.com', visitor), visitor);
    const body = { name: 'Bob', email: 'bob@example.com', password: 'a horse with wings' };
    const registered = await fetch(`${host.urls.app}/auth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...body, password_confirmation: body.password }),
    });
    expect(registered.status).toBe(200);
    const bob = new Visitor();
    expect((await signIn('bob@example.com', bob)).status).toBe(409);
    expect(await userOf(bob)).toBeNull();
  });

  it('refuses a callback in another browser, with another state, and a second time', async () => {
    const visitor = new Visitor();
    const url = await atProvider(visitor);
    const other = new Visitor();
    await refused(await other.send(url), other);
    await refused(await visitor.send(url.replace(/state=[^&]*/, `state=${'A'.repeat(43)}`)), visitor);
    const second = new Visitor();
    const nearly = (await atProvider(second)).replace(/state=[^&]*/, `state=%C3%A4${'A'.repeat(42)}`);
    await refused(await second.send(nearly), second);
    // The attempt has ended with the first callback.
    await refused(await visitor.send(url), visitor);
    await signIn(ADA, other);
    const again = await other.send(url);
    expect(again.status).toBe(403);
  });

  it('refuses the code of another attempt (PKCE), and an ID token of another attempt (nonce)', async () => {
    const [victim, attacker] = [new Visitor(), new Visitor()];
    const stolen = new URL(await atProvider(victim)).searchParams.get('code')!;
    const own = new URL(await atProvider(attacker, 'eve@example.com'));
    own.searchParams.set('code', stolen);
    await refused(await attacker.send(own.href), attacker);

    const visitor = new Visitor();
    const url = await atProvider(visitor);
    const jar = visitor.cookies.get(host.urls.app!)!;
    for (const [name, value] of jar) jar.set(name, value.replace(/\.[^.]+\./, `.${'A'.repeat(43)}.`));
    await refused(await visitor.send(url), visitor);
  });

  it.each([
    'error=access_denied',
    'error=server_error',
    'code=x',
    'code=x&state=y',
    'code[]=x&state[]=y',
    'code=x&state=',
    'state=x',
  ])('begins no session at a callback with %s', async (query) => {
    const visitor = new Visitor();
    const answer = await visitor.send(callbackUrl(query));
    // Without a code it is the beginning of a new attempt.
    expect([302, 403]).toContain(answer.status);
    expect(answer.headers.getSetCookie().join()).not.toContain('__Host-refresh');
    expect(await userOf(visitor)).toBeNull();
  });

  it('is the code of the recipe for social login', () => {
    const blocks = blocksOf('docs/recipes/social-login.md').filter((block) => fileOf(block));
    for (const block of blocks) {
      const source = readFileSync(join(ROOT, 'examples/google-login', fileOf(block)!), 'utf8');
      expect(source).toBe(block.text.slice(block.text.indexOf('\n') + 1));
    }
    expect(blocks).toHaveLength(2);
  });

  it('logs no error', () => {
    expect(host.logs).not.toMatch(/ERROR/);
  });
});

describe('the example google-login, without its provider', () => {
  let host: RunningExample;

  beforeAll(async () => void (host = await start('google-login', { PROVIDER_URL: 'http://localhost:1' })));
  afterAll(() => host?.stop());

  it('answers 503', async () => {
    const visitor = new Visitor();
    const { searchParams } = new URL(visitor.redirection(await visitor.send(`${host.urls.app}/google`)));
    const answer = await visitor.send(`${host.urls.app}/google/callback?code=x&state=${searchParams.get('state')}`);
    expect(answer.status).toBe(503);
  });
});
