import { SessionStarted } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { TestApp, type Tokens, claimsOf } from '../support/hosts/app';
import { forge } from '../support/clients/forge';

const t = TestApp.forFile();
beforeEach(async () => {
  for (const email of ['ada@example.com', 'bob@example.com']) await t.person(email);
  await t.person('root@example.com', 'admin');
});

describe('the list of sessions', () => {
  const list = async (token: string, path = '/auth'): Promise<Record<string, unknown>[]> =>
    (await t.get(`${path}/sessions`, token).expect(200)).body.data;
  const end = (token: string, id: unknown, path = '/auth') => t.call('delete', `${path}/sessions/${id}`, token);
  const idOf = (token: string): string => String(claimsOf(token).fid);

  it('shows client data of each session, and marks the current one', async () => {
    const { body } = await t.login('ada@example.com').set('User-Agent', 'Lynx/2.9').expect(200);
    const labelled = await t.auth.startSession(1, { label: 'CI' });
    const response = await t.get('/auth/sessions', body.access_token).expect(200);
    expect(response.headers['cache-control']).toBe('no-store, private');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const times = { created_at: time, last_used_at: time, expires_at: time, actor: 'user' };
    expect(response.body).toEqual({
      data: [
        { id: idOf(labelled.accessToken), ...times, ip: null, user_agent: null, label: 'CI', current: false },
        { id: idOf(body.access_token), ...times, ip: '127.0.0.1', user_agent: 'Lynx/2.9', label: null, current: true },
      ],
    });
  });

  it('is sorted by the time of the last use, which it shows', async () => {
    const first = await t.session();
    t.clock.advance(60);
    const second = await t.session();
    t.clock.advance(60);
    const { body } = await t.refresh(first.refresh_token).expect(200);
    const [a, b] = await list(body.access_token);
    expect([a!.id, b!.id]).toEqual([idOf(first.access_token), idOf(second.access_token)]);
    expect(Date.parse(String(a!.last_used_at)) - Date.parse(String(a!.created_at))).toBeGreaterThanOrEqual(119_000);
    expect(a!.current).toBe(true);
  });

  it('contains at most 100 sessions, including the current one', async () => {
    const own = await t.session();
    await t.database.query(`
      INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
      SELECT gen_random_uuid(), 'api', '1', '', now(), now() + interval '1 day', now() + n * interval '1 s', now()
        FROM generate_series(1, 500) n`);
    const listed = await list(own.access_token);
    expect(listed).toHaveLength(100);
    expect(listed.at(-1)).toMatchObject({ id: idOf(own.access_token), current: true });
    const times = listed.map((session) => Date.parse(String(session.last_used_at)));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it('shows a label shortened and without NUL', async () => {
    const { accessToken } = await t.auth.startSession(1, { label: `a\0b${'x'.repeat(9000)}` });
    const [one] = await list(accessToken);
    expect(one!.label).toBe(`ab${'x'.repeat(252)}`);
  });

  it('contains active sessions of the user at the guard only', async () => {
    const own = await t.session();
    const ended = await t.session();
    await t.session('bob@example.com');
    const staff = await t.session('root@example.com', 'admin');
    await t.call('post', '/auth/logout', ended.access_token).expect(204);
    expect((await list(own.access_token)).map(({ id }) => id)).toEqual([idOf(own.access_token)]);
    expect((await list(staff.access_token, '/admin/auth')).map(({ id }) => id)).toEqual([idOf(staff.access_token)]);
    t.clock.advance(2_592_001);
    const later = await t.session();
    expect((await list(later.access_token)).map(({ id }) => id)).toEqual([idOf(later.access_token)]);
  });

  it('can be read with a token without a session', async () => {
    await t.session();
    const [one] = await list(forge({ without: ['fid'] }));
    expect(one).toMatchObject({ current: false });
    await t.http.get('/auth/sessions').expect(401);
  });

  it('ends one session at once, with its refresh and access tokens, and keeps the others', async () => {
    const [own, other] = [await t.session(), await t.session()];
    await end(own.access_token, idOf(other.access_token)).expect(204, '');
    await t.get('/private', other.access_token).expect(401);
    await t.refresh(other.refresh_token).expect(401);
    await t.get('/private', own.access_token).expect(200);
    // A repeated request is no error, and the id may be in upper case.
    await end(own.access_token, idOf(other.access_token).toUpperCase()).expect(204);
    await end(own.access_token, idOf(own.access_token)).expect(204);
    await t.get('/private', own.access_token).expect(401);
  });

  it('answers 404 for an id of no session of the caller, and changes nothing', async () => {
    const own = await t.session();
    const bob = await t.session('bob@example.com');
    const staff = await t.session('root@example.com', 'admin');
    const answers = [];
    for (const id of [
      idOf(bob.access_token),
      idOf(staff.access_token),
      randomUUID(),
      'x',
      '1',
      '%00',
      "'%20OR%20true--",
      'x'.repeat(500),
      '%E0%A4%A4',
    ]) {
      answers.push(await end(own.access_token, id).expect(404));
    }
    for (const { body } of answers) expect(body).toEqual({ message: 'There is nothing here.' });
    await t.get('/private', bob.access_token).expect(200);
    await t.get('/staff', staff.access_token).expect(200);
    await end(staff.access_token, idOf(own.access_token), '/admin/auth').expect(404);
    await t.get('/private', own.access_token).expect(200);
  });

  it('answers an undecodable path with a 4xx in JSON', async () => {
    const own = await t.session();
    const { status, headers } = await end(own.access_token, '%E0%A4');
    expect([status, headers['content-type']]).toEqual([400, expect.stringMatching(/json/)]);
  });
});

describe('ending sessions', () => {
  let [first, second, third]: Tokens[] = [];

  beforeEach(async () => {
    [first, second] = [await t.session(), await t.session()];
    third = await t.session('bob@example.com');
  });

  const alive = async ({ access_token: access, refresh_token: refresh }: Tokens): Promise<number[]> => [
    (await t.get('/private', access)).status,
    (await t.refresh(refresh)).status,
  ];

  it('by logout ends the calling session alone, at once, with an empty 204', async () => {
    const { text, headers } = await t.call('post', '/auth/logout', first!.access_token).expect(204);
    expect(text).toBe('');
    expect(headers['set-cookie']).toBeUndefined();
    expect(await alive(first!)).toEqual([401, 401]);
    expect(await alive(second!)).toEqual([200, 200]);
  });

  it('by logout also revokes tokens that were issued before the last refresh', async () => {
    const { body: renewed } = await t.refresh(first!.refresh_token).expect(200);
    await t.call('post', '/auth/logout', renewed.access_token).expect(204);
    expect(await alive(first!)).toEqual([401, 401]);
    expect(await alive(renewed)).toEqual([401, 401]);
  });

  it('of all devices keeps the sessions of other users', async () => {
    await t.call('delete', '/auth/sessions', first!.access_token).expect(204);
    expect(await alive(first!)).toEqual([401, 401]);
    expect(await alive(second!)).toEqual([401, 401]);
    expect(await alive(third!)).toEqual([200, 200]);
  });

  it('of all other devices keeps the current session', async () => {
    await t.call('delete', '/auth/sessions/others', first!.access_token).expect(204);
    expect(await alive(second!)).toEqual([401, 401]);
    expect(await alive(third!)).toEqual([200, 200]);
    expect(await alive(first!)).toEqual([200, 200]);
  });

  it('requires a token', async () => {
    await t.http.post('/auth/logout').expect(401);
    await t.http.delete('/auth/sessions').expect(401);
    await t.http.delete('/auth/sessions/others').expect(401);
  });

  it('is possible from server code, by session and by user', async () => {
    const ours = await t.auth.startSession('1', { label: 'token', claims: { tenant: 'x' } });
    const { body: caller } = await t.get('/private', ours.accessToken).expect(200);
    expect(caller.claims.tenant).toBe('x');
    await t.auth.revoke(caller.familyId);
    await t.get('/private', ours.accessToken).expect(401);

    const [kept, other] = [await t.auth.startSession(1), await t.auth.startSession(1)];
    const { body: keeper } = await t.get('/private', kept.accessToken).expect(200);
    await t.auth.revokeOthers(1, keeper.familyId);
    await t.get('/private', other.accessToken).expect(401);
    await t.get('/private', kept.accessToken).expect(200);
    await t.auth.revokeAll(1);
    await t.get('/private', kept.accessToken).expect(401);
  });

  it('accepts a session id in upper and lower case', async () => {
    const { body: caller } = await t.get('/private', first!.access_token).expect(200);
    await t.auth.revokeOthers(1, caller.familyId.toUpperCase());
    expect(await alive(second!)).toEqual([401, 401]);
    await t.get('/private', first!.access_token).expect(200);
    await t.auth.revoke(caller.familyId.toUpperCase());
    expect(await alive(first!)).toEqual([401, 401]);
  });

  it('keeps the row of an ended session, and refuses its refresh token', async () => {
    await t.call('post', '/auth/logout', first!.access_token).expect(204);
    await t.refresh(first!.refresh_token).expect(401);
    const [{ count }] = await t.database.query('SELECT count(*)::int FROM svc_sessions WHERE revoked_at IS NOT NULL');
    expect(count).toBeGreaterThan(0);
  });
});

describe('with tokenIds `any`, a session of another issuer', () => {
  const host = TestApp.forFile({ options: { tokenIds: 'any' } });
  beforeEach(() => host.person('ada@example.com'));

  it('ends with its id in capitals, and may have any text as its id', async () => {
    for (const path of ['logout', 'sessions'] as const) {
      const { access_token: token } = await host.session();
      const upperCase = forge({ claims: { fid: String(claimsOf(token).fid).toUpperCase() } });
      await host.get('/private', upperCase).expect(200);
      await host.call(path === 'logout' ? 'post' : 'delete', `/auth/${path}`, token).expect(204);
      await host.get('/private', upperCase).expect(401);
    }
    for (const fid of ['a\0b', '\ud800', "'", 'x'.repeat(3000)]) {
      const unusual = forge({ claims: { fid } });
      await host.get('/auth/sessions', unusual).expect(200);
      await host.call('delete', '/auth/sessions/others', unusual).expect(204);
    }
  });
});

describe('behind a proxy, the list of sessions and the events', () => {
  const host = TestApp.forFile({ behindProxy: true });
  beforeEach(() => host.person('ada@example.com'));

  it.each([
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['0:0:0:0:0:FFFF:cb00:7107', '203.0.113.7'],
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8::7', '2001:db8::7'],
    ['203.0.113.7:443', null],
    ['<b>', null],
  ])('show %s as %s', async (from, shown) => {
    const started = host.recorded(SessionStarted);
    const { body } = await host.login('ada@example.com').set('X-Forwarded-For', from).expect(200);
    const list = await host.get('/auth/sessions', body.access_token).expect(200);
    expect(list.body.data.map(({ ip }: { ip: unknown }) => ip)).toEqual([shown]);
    expect(started.map(({ client }) => client.ip)).toEqual([shown]);
  });
});
