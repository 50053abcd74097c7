import { Controller, Get, Logger, Version, type VersioningOptions, VersioningType } from '@nestjs/common';
import { Authenticated } from '@svc/auth';
import { API_URL, member, startMembers } from '../support/hosts/members';
import { documentOf } from '../openapi/support/document-checker';
import { PASSKEYS } from '../support/flows/passkeys';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

@Controller('orders')
@Authenticated()
class Orders {
  @Get()
  first() {
    return { version: 1 };
  }

  @Get()
  @Version('2')
  second() {
    return { version: 2 };
  }
}

const RELATED = 'https://shop.example.org';

/** The path of the orders in a version, and the headers that select it. */
type PlaceOf = (version: string) => [path: string, headers: object];

const KINDS: [kind: string, versioning: VersioningOptions, placeOf: PlaceOf][] = [
  ['in the path', { type: VersioningType.URI, defaultVersion: '1' }, (version) => [`/api/v${version}/orders`, {}]],
  [
    'in a header',
    { type: VersioningType.HEADER, header: 'X-API-Version', defaultVersion: '1' },
    (version) => ['/api/orders', { 'X-API-Version': version }],
  ],
  [
    'in the media type',
    { type: VersioningType.MEDIA_TYPE, key: 'v=', defaultVersion: '1' },
    (version) => ['/api/orders', { Accept: `application/json;v=${version}` }],
  ],
];

describe.each(KINDS)('an application with a global prefix and versions %s', (_, versioning, placeOf) => {
  let warned: unknown[];
  let host: Awaited<ReturnType<typeof startMembers>>;

  beforeAll(async () => {
    warned = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void warned.push(line));
    host = await startMembers(
      {
        ...PASSKEYS,
        passkeys: { ...PASSKEYS.passkeys, relatedOrigins: [RELATED] },
        cookieMode: true,
        emailVerification: { apiUrl: `${API_URL}/api` },
      },
      { controllers: [Orders], prepare: (app) => void app.setGlobalPrefix('api').enableVersioning(versioning) },
    );
  });
  afterAll(() => host.t.stop());

  const call = (method: 'get' | 'post', path: string, headers: object = {}) =>
    host.t.http[method](path).set({ ...headers } as Record<string, string>);

  it('has the routes of the library below the prefix, for every version, and those of the host with theirs', async () => {
    const { t } = host;
    await member(t, ADA);
    const signIn = { email: ADA, password: PASSWORD };
    for (const version of ['1', '2', '3']) {
      const [, headers] = placeOf(version);
      await call('post', '/api/auth/login', headers).send(signIn).expect(200);
    }
    const { body, headers } = await call('post', '/api/auth/login').send(signIn).expect(200);
    // The name of the cookie begins with __Host-, so its path is the root.
    expect(headers['set-cookie']![0]).toMatch(/^__Host-refresh=.*; Path=\/;/i);
    expect(headers['cache-control']).toBe('no-store, private');
    const cookie = headers['set-cookie']![0]!.split(';')[0]!;
    await call('post', '/api/auth/refresh', { Cookie: cookie }).expect(200);
    const authorization = { Authorization: `Bearer ${body.access_token}` };
    for (const version of ['1', '2']) {
      const [path, versioned] = placeOf(version);
      const answer = await call('get', path, { ...versioned, ...authorization }).expect(200);
      expect(answer.body).toEqual({ version: Number(version) });
      await call('get', path, versioned).expect(401);
    }
    for (const path of ['/auth/login', '/api/v1/auth/login', '/v1/api/auth/login'])
      await call('post', path).send(signIn).expect(404);
  });

  it('mails a link that it serves, and warns of none', async () => {
    const { t, mailbox } = host;
    const before = mailbox.mails.length;
    await member(t, 'bob@example.com');
    const { body } = await call('post', '/api/auth/login').send({ email: 'bob@example.com', password: PASSWORD });
    const authorization = { Authorization: `Bearer ${body.access_token}` };
    await call('post', '/api/auth/email/verification-notification', authorization).expect(202);
    const link = await mailbox.linkAfter(before, 'bob@example.com');
    await call('get', link.href.replace(API_URL, ''), { Accept: 'application/json' }).expect(204);
    expect(warned.filter((line) => String(line).includes('prefix'))).toEqual([]);
  });

  it('describes its routes where they are, and serves the list of related origins at the root', async () => {
    const paths = Object.keys(documentOf(host.t.app).paths);
    expect(paths).toEqual(expect.arrayContaining(['/api/auth/login', '/api/auth/jwks', placeOf('1')[0]]));
    expect(paths.filter((path) => !path.startsWith('/api/'))).toEqual([]);
    for (const path of ['/api/auth/jwks', '/api/auth/sessions', '/api/admin/auth/jwks']) {
      expect(paths).toContain(path);
      expect([path, (await call('get', path)).status]).toEqual([path, path.endsWith('jwks') ? 200 : 401]);
    }
    await call('get', '/.well-known/webauthn').expect(200, { origins: [RELATED] });
  });
});

describe('the URL of mailed links, below a global prefix', () => {
  const warningsOf = async (apiUrl: string, exclude: string[] = []): Promise<string[]> => {
    const warned: string[] = [];
    const warn = jest
      .spyOn(Logger.prototype, 'warn')
      .mockImplementation((line: unknown) => void warned.push(String(line)));
    const prepare = (app: { setGlobalPrefix(prefix: string, options: object): unknown }) =>
      void app.setGlobalPrefix('/api/', { exclude });
    const { t } = await startMembers({ emailVerification: { apiUrl } }, { prepare });
    await t.stop();
    warn.mockRestore();
    return warned.filter((line) => line.includes('prefix'));
  };

  it('is named at the start if it has no prefix, with the one that has, and not where the route has none', async () => {
    expect(await warningsOf(`${API_URL}/`)).toEqual([
      expect.stringMatching(/^emailVerification\.apiUrl.* Set it to https:\/\/api\.example\.test\/api, unless/),
    ]);
    expect(await warningsOf(`${API_URL}/api/`)).toEqual([]);
    expect(await warningsOf(API_URL, ['auth/*rest'])).toEqual([]);
  });
});
