import { type INestApplication, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import { blocksOf } from '../docs/blocks';
import { modulesOf } from '../docs/page-modules';
import { type TestDatabase, createEmptyDatabase, executed } from '../support/stores/database';
import { AppModule as BackendBefore } from './realworld/before';

const FORMER_TABLE = `CREATE TABLE users (id serial PRIMARY KEY, username text NOT NULL UNIQUE, email text NOT NULL,
  bio text NOT NULL DEFAULT '', image text NOT NULL DEFAULT '', password text NOT NULL)`;

const PAGE = 'docs/recipes/from-realworld.md';

const PASSWORD = 'a horse with wings';
const ADA = { username: 'ada', email: 'ada@example.com', password: PASSWORD };

describe('a RealWorld backend', () => {
  let database: TestDatabase;
  let app: INestApplication;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await executed(FORMER_TABLE, database.url);
    Object.assign(process.env, {
      DATABASE_URL: database.url,
      SVC_SECRET: 'a-secret-of-the-realworld-backend-0123456789',
    });
  });
  afterAll(async () => {
    await app?.close();
    for (const name of ['DATABASE_URL', 'SVC_SECRET']) delete process.env[name];
    await database.drop();
  });

  const start = async (module: Type, prepare = (_: INestApplication): void => undefined): Promise<void> => {
    const testing = await Test.createTestingModule({ imports: [module] }).compile();
    app = testing.createNestApplication({ logger: false });
    app.setGlobalPrefix('api');
    prepare(app);
    await app.listen(0, '127.0.0.1');
  };
  const send = (method: 'get' | 'post' | 'put', path: string, token?: string) => {
    const call = request(app.getHttpServer())[method](`/api/${path}`);
    return token ? call.set('Authorization', `Token ${token}`) : call;
  };
  const tokenOf = async (email: string, password = PASSWORD): Promise<string> =>
    (await send('post', 'users/login').send({ user: { email, password } }).expect(200)).body.user.token;

  /** The requests of a client. Both backends answer them in the same way. */
  const servesAClient = async (user: typeof ADA): Promise<void> => {
    const { username, email } = user;
    const shown = { username, email, bio: '', image: '', token: expect.any(String) };
    const { body } = await send('post', 'users').send({ user }).expect(201);
    expect(body.user).toMatchObject(shown);
    await send('post', 'users').send({ user }).expect(422);
    const token = await tokenOf(email);
    expect((await send('get', 'user', token).expect(200)).body).toEqual({ user: shown });
    await send('get', 'user').expect(401);
    await send('get', 'user', 'garbage').expect(401);
    const changed = (
      await send('put', 'user', token)
        .send({ user: { bio: 'I write.' } })
        .expect(200)
    ).body;
    expect(changed).toEqual({ user: { ...shown, bio: 'I write.' } });
    const profile = { username, bio: 'I write.', image: '', following: false };
    expect((await send('get', `profiles/${username}`).expect(200)).body).toEqual({ profile });
    expect((await send('get', `profiles/${username}`, token).expect(200)).body).toEqual({ profile });
    await send('get', 'profiles/none').expect(404);
  };

  it('that signs its own tokens serves a client', async () => {
    await start(BackendBefore);
    await servesAClient(ADA);
    await app.close();
  });

  describe('after the steps of the page', () => {
    beforeAll(async () => {
      for (const { language, text } of blocksOf(PAGE)) if (language === 'sql') await executed(text, database.url);
      const { AppModule } = modulesOf(PAGE)['src/app.module.ts'];
      const scheme = modulesOf('docs/recipes/from-passport-jwt.md', {}, ['src/token-scheme.ts']);
      await start(AppModule, (host) => host.use(scheme['src/token-scheme.ts'].tokenAsBearer));
    });

    it('serves a client', () => servesAClient({ ...ADA, username: 'bob', email: 'bob@example.com' }));

    it('signs in users with their former passwords, and knows them on public routes', async () => {
      const token = await tokenOf('ada@example.com');
      expect((await send('get', 'profiles/bob', token).expect(200)).body.profile.following).toBe(true);
      expect((await send('get', 'profiles/bob').expect(200)).body.profile.following).toBe(false);
    });

    it('names the field of a taken username, and answers a wrong password with errors', async () => {
      const taken = { ...ADA, email: 'other@example.com' };
      expect((await send('post', 'users').send({ user: taken }).expect(422)).body.errors).toHaveProperty('username');
      const wrong = { user: { email: ADA.email, password: 'wrong' } };
      expect((await send('post', 'users/login').send(wrong).expect(422)).body.errors).toHaveProperty('email');
      await send('post', 'users').expect(422);
      await send('post', 'users/login').expect(422);
    });

    it('changes the password with the current one only, and then no other token is accepted, on public routes neither', async () => {
      const [own, other] = [await tokenOf(ADA.email), await tokenOf(ADA.email)];
      const change = (currentPassword?: string) =>
        send('put', 'user', own).send({ user: { password: 'another horse here', currentPassword } });
      await change().expect(422);
      await change('wrong').expect(422);
      await change(PASSWORD).expect(200);
      await send('get', 'user', own).expect(200);
      await send('get', 'user', other).expect(401);
      await send('get', 'profiles/bob', other).expect(401);
      await tokenOf(ADA.email, 'another horse here');
    });

    it('exchanges the refresh token of the body', async () => {
      const { user } = (
        await send('post', 'users/login').send({ user: { email: 'bob@example.com', password: PASSWORD } })
      ).body;
      const next = (await send('post', 'users/refresh').send({ user }).expect(200)).body.user;
      await send('get', 'user', next.token).expect(200);
      await send('post', 'users/refresh')
        .send({ user: { refreshToken: 'garbage' } })
        .expect(401);
    });
  });
});
