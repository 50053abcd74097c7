import vectors from '../vectors/rfc-jose/rfc7515_appendix_a.json';
import { TestApp, type Tokens, claimsOf } from '../support/hosts/app';
import { type Forgery, altered, forge, unsigned } from '../support/clients/forge';
import { ADMIN_AUDIENCE } from '../support/hosts/host.module';
import { requestWith } from '../support/clients/raw-headers';
import { countUserReads } from '../support/stores/user-reads';

const now = (): number => Math.floor(Date.now() / 1000);

let t: TestApp;

beforeAll(async () => {
  t = await TestApp.start();
  const ids = [await t.person('ada@example.com'), await t.person('root@example.com', 'admin')];
  expect(ids).toEqual(['1', '1']);
});
afterAll(() => t.stop());

describe('an access token', () => {
  let reads: () => number;

  beforeEach(() => (reads = countUserReads(t)));

  it('has the claims of RFC 9068 §2.2 except client_id, because there are no OAuth clients, and the session`s claims', async () => {
    const { access_token: token } = await t.session();
    expect(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())).toEqual({
      alg: 'HS256',
      typ: 'at+jwt',
    });
    const claims = claimsOf(token);
    expect(Object.keys(claims).toSorted()).toEqual(
      ['amr', 'aud', 'auth_time', 'exp', 'fid', 'iat', 'iss', 'jti', 'nbf', 'sub'].toSorted(),
    );
    expect(claims).toMatchObject({
      iss: 'https://api.example.com',
      aud: 'https://api.example.com',
      sub: '1',
      amr: ['pwd'],
    });
    expect(claims.exp).toBe(Number(claims.iat) + 900);
    expect(claims.nbf).toBe(claims.iat);
  });

  it.each([['/private'], ['/passport']])('is accepted at %s', async (path) => {
    const { body } = await t.get(path, forge()).expect(200);
    expect(body).toMatchObject({ guard: 'api', userId: '1' });
  });

  const refused: Record<string, Forgery> = {
    'is signed with another key': { secret: 'another-secret-of-at-least-32-bytes!' },
    'is a login challenge': { header: { typ: '2fa+challenge' } },
    'is a confirmation': { header: { typ: 'reauth+challenge' } },
    'is a plain JWT': { header: { typ: 'JWT' } },
    'has its type in upper case': { header: { typ: 'AT+JWT' } },
    'has no type': { header: { typ: undefined } },
    'claims another HMAC': { header: { alg: 'HS512' } },
    'claims RSA': { header: { alg: 'RS256' } },
    'claims no algorithm': { header: { alg: 'none' } },
    'has an unsupported critical header': { header: { crit: ['b64'], b64: false } },
    'has expired': { claims: { exp: now() - 60 } },
    'never expires': { without: ['exp'] },
    'has a text as expiry': { claims: { exp: String(now() + 900) } },
    'has null as expiry': { claims: { exp: null } },
    'is not valid yet': { claims: { nbf: now() + 60 } },
    'is not valid yet by iat, without nbf': { without: ['nbf'], claims: { iat: now() + 60 } },
    'has a text as nbf': { claims: { nbf: '0' } },
    'has null as nbf': { claims: { nbf: null } },
    'has null as iat': { claims: { iat: null } },
    'has a fraction as expiry': { claims: { exp: now() + 60.5 } },
    'has a fraction as nbf': { claims: { nbf: now() - 0.5 } },
    'has a fraction as iat': { claims: { iat: now() - 0.5 } },
    'has a negative nbf': { claims: { nbf: -1 } },
    'has milliseconds as iat': { claims: { iat: Date.now() } },
    'has a text as id that is no UUID': { claims: { jti: 'a' } },
    'has an id in capitals': { claims: { jti: '5C8D2C2B-6C2F-4B9E-8D6F-0D3F2F6C1A11' } },
    'has an empty id': { claims: { jti: '' } },
    'has a number as id': { claims: { jti: 7 } },
    'has null as id': { claims: { jti: null } },
    'has a text as session that is no UUID': { claims: { fid: 'a' } },
    'has a session in capitals': { claims: { fid: '5C8D2C2B-6C2F-4B9E-8D6F-0D3F2F6C1A11' } },
    'has an empty session': { claims: { fid: '' } },
    'has a number as session': { claims: { fid: 7 } },
    'has null as session': { claims: { fid: null } },
    'has no subject': { without: ['sub'] },
    'has an empty subject': { claims: { sub: '' } },
    'has a number as subject': { claims: { sub: 1 } },
    'has a list as subject': { claims: { sub: ['1'] } },
    'has an object as subject': { claims: { sub: { id: '1' } } },
    'has a list as issuer': { claims: { iss: ['https://api.example.com'] } },
    'has another issuer': { claims: { iss: 'https://api.example.com/' } },
    'has no issuer': { without: ['iss'] },
    'has no audience': { without: ['aud'] },
    'has the other guard as audience': { claims: { aud: ADMIN_AUDIENCE } },
    'has a nested audience': { claims: { aud: [['https://api.example.com']] } },
  };

  it.each(Object.entries(refused))(
    'that %s is refused without a reason, and without reading a user',
    async (_, forgery) => {
      for (const path of ['/private', '/passport']) {
        const { status, headers } = await t.get(path, forge(forgery));
        expect(status).toBe(401);
        if (path === '/private') expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
      }
      expect(reads()).toBe(0);
    },
  );

  it.each([
    ['is unsigned', () => unsigned()],
    ['lost its signature', () => forge().replace(/[^.]+$/, '')],
    ['has one changed bit', () => altered(forge())],
    ['is no JWT', () => 'abc'],
    ['consists of dots', () => '..'],
    ['has a list as payload', () => forge({ claims: {} }).split('.').with(1, 'W10').join('.')],
    ['is RFC 7515 A.1', () => vectors.A1_HS256.jws],
    ['is RFC 7515 A.3', () => vectors.A3_ES256.jws],
    ['is RFC 7515 A.5', () => vectors.A5_none.jws],
  ])('that %s is refused', async (_, token) => {
    for (const path of ['/private', '/passport']) await t.get(path, token()).expect(401);
    expect(reads()).toBe(0);
  });

  it('is accepted during the leeway before its start and after its expiry, and not longer', async () => {
    await t.get('/private', forge({ claims: { exp: now() - 3 } })).expect(200);
    await t.get('/private', forge({ claims: { exp: now() - 6 } })).expect(401);
    await t.get('/private', forge({ claims: { nbf: now() + 4 } })).expect(200);
    await t.get('/private', forge({ claims: { nbf: now() + 8 } })).expect(401);
  });

  it.each([
    ['7'],
    ['01'],
    [' 1'],
    ['1 '],
    ['+1'],
    ['1e0'],
    ['1.0'],
    ['99999999999999999999'],
    ['abc'],
    ["1' OR '1'='1"],
    ['\0'],
  ])('with the unknown subject %j is refused', async (sub) => {
    await t.get('/private', forge({ claims: { sub } })).expect(401);
  });

  it('without a session is accepted, because a co-issuer may issue it, and its logout ends this token alone', async () => {
    const [token, other] = [forge({ without: ['fid'] }), forge({ without: ['fid'] })];
    const live = await t.session();
    await t.get('/private', token).expect(200);
    await t.call('post', '/auth/logout', token).expect(204);
    await t.get('/private', token).expect(401);
    await t.get('/private', other).expect(200);
    await t.get('/private', live.access_token).expect(200);
  });

  it('without a session ends all sessions of its user when it ends the other ones', async () => {
    const token = forge({ without: ['fid'] });
    await t.person('bob@example.com');
    const [one, two, bob] = [await t.session(), await t.session(), await t.session('bob@example.com')];
    await t.call('delete', '/auth/sessions/others', token).expect(204);
    for (const { access_token: access } of [one, two]) await t.get('/private', access).expect(401);
    for (const access of [token, bob.access_token]) await t.get('/private', access).expect(200);
  });

  it('without a session ends itself and all sessions of its user when it ends all of them', async () => {
    const [token, other] = [forge({ without: ['fid'] }), forge({ without: ['fid'] })];
    const live = await t.session();
    await t.call('delete', '/auth/sessions', token).expect(204);
    for (const access of [live.access_token, token]) await t.get('/private', access).expect(401);
    await t.get('/private', other).expect(200);
    await t.call('delete', '/auth/sessions', forge({ without: ['fid', 'jti'] })).expect(204);
  });

  it('without a session and an id is answered 409 at the logout, because nothing can end', async () => {
    const token = forge({ without: ['fid', 'jti'] });
    const { body, headers } = await t.call('post', '/auth/logout', token).expect(409);
    expect(body).toEqual({ message: 'This token belongs to no session, so there is nothing to end.' });
    expect(headers['set-cookie']).toBeUndefined();
    await t.get('/private', token).expect(200);
  });

  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['another scheme', 'Basic YTpi'],
    ['a scheme alone', 'Bearer'],
    ['a scheme and spaces', 'Bearer   '],
  ])('is required when the request has %s', async (_, authorization) => {
    const call = t.http.get('/private');
    const { headers, body } = await (
      authorization === undefined ? call : call.set('Authorization', authorization)
    ).expect(401);
    expect(headers['www-authenticate']).toBe('Bearer');
    expect(body).toEqual({ message: 'Authentication is required.' });
  });

  it('is not read from a request with two Authorization headers, which is answered as one without', async () => {
    const [own, other] = [`Bearer ${forge()}`, 'Basic YTpi'];
    const base = await t.app.getUrl();
    const get = (...values: string[]) => {
      const fields = values.flatMap((value, i) => [i ? 'authorization' : 'Authorization', value]);
      return Promise.all(['/private', '/passport', '/auth/sessions'].map((path) => requestWith(base + path, fields)));
    };
    expect(await get(own)).toEqual([200, 200, 200]);
    for (const two of [
      [own, own],
      [own, other],
      [other, own],
    ])
      expect([two, await get(...two)]).toEqual([two, [401, 401, 401]]);
  });

  it('is not read from a server call with two Authorization headers', async () => {
    const authorization = `Bearer ${forge()}`;
    await expect(t.auth.sessions.list({ headers: { authorization } })).resolves.toBeDefined();
    for (const two of [
      { headers: { authorization, Authorization: authorization } },
      { headers: { authorization: [authorization, authorization] } },
      { headers: { authorization }, rawHeaders: ['Authorization', authorization, 'authorization', authorization] },
    ])
      await expect(t.auth.sessions.list(two)).rejects.toThrow('Authentication is required.');
  });

  it('is not read from the query string or the body', async () => {
    await t.http.get(`/private?access_token=${forge()}`).expect(401);
    await t.http.post('/auth/logout').send({ access_token: forge() }).expect(401);
  });

  it('of a deleted user is refused', async () => {
    const id = await t.person('gone@example.com');
    const { access_token: token } = await t.session('gone@example.com');
    await t.get('/private', token).expect(200);
    await t.database.query('DELETE FROM people WHERE id = $1', [id]);
    await t.get('/private', token).expect(401);
  });
});

describe('two guards with users of the same ids', () => {
  let own: Tokens;
  let staff: Tokens;

  beforeEach(async () => {
    own = await t.session('ada@example.com');
    staff = await t.session('root@example.com', 'admin');
  });

  it('accept their own tokens, by decorator and by Passport', async () => {
    for (const [path, token] of [
      ['/private', own],
      ['/passport', own],
      ['/staff', staff],
      ['/passport-staff', staff],
    ] as const) {
      await t.get(path, token.access_token).expect(200);
    }
  });

  it('refuse each other`s access tokens', async () => {
    for (const [path, token] of [
      ['/private', staff],
      ['/passport', staff],
      ['/staff', own],
      ['/passport-staff', own],
    ] as const) {
      await t.get(path, token.access_token).expect(401);
    }
  });

  it('refuse each other`s refresh tokens, which stay valid at their own guard', async () => {
    await t.refresh(own.refresh_token, 'admin').expect(401);
    await t.refresh(staff.refresh_token, 'api').expect(401);
    await t.refresh(own.refresh_token, 'api').expect(200);
    await t.refresh(staff.refresh_token, 'admin').expect(200);
  });

  it('find only their own users', async () => {
    await t.login('root@example.com', undefined, 'api').expect(422);
    await t.login('ada@example.com', undefined, 'admin').expect(422);
  });

  it('end only their own sessions, though the user ids are equal', async () => {
    await t.call('delete', '/auth/sessions', own.access_token).expect(204);
    await t.get('/staff', staff.access_token).expect(200);
    await t.refresh(staff.refresh_token, 'admin').expect(200);

    const { access_token: fresh } = await t.session('ada@example.com');
    await t.call('delete', '/admin/auth/sessions', staff.access_token).expect(204);
    await t.get('/private', fresh).expect(200);
  });

  it('do not end a session by a token of the other guard', async () => {
    await t.call('post', '/admin/auth/logout', own.access_token).expect(401);
    await t.call('delete', '/auth/sessions', staff.access_token).expect(401);
    await t.get('/private', own.access_token).expect(200);
    await t.get('/staff', staff.access_token).expect(200);
  });

  it('start sessions from server code for the named guard', async () => {
    const { accessToken } = await t.auth.guard('admin').startSession(1);
    expect(claimsOf(accessToken).aud).toBe('https://admin.example.com');
    await t.get('/staff', accessToken).expect(200);
    await t.get('/private', accessToken).expect(401);
    expect(() => t.auth.guard('unknown')).toThrow(/no guard "unknown".*Declared: admin, api/);
  });

  it('are stored in every session row', async () => {
    const rows = await t.database.query('SELECT DISTINCT guard FROM svc_sessions ORDER BY guard');
    expect(rows).toEqual([{ guard: 'admin' }, { guard: 'api' }]);
  });
});
