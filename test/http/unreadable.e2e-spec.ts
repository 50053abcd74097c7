import { TestApp, type TestAppOptions } from '../support/app';

describe('a request to a route of the library that cannot be read', () => {
  const started: TestApp[] = [];
  const start = async (options: TestAppOptions): Promise<TestApp> => {
    const t = await TestApp.start(options);
    started.push(t);
    return t;
  };
  afterEach(() => Promise.all(started.splice(0).map((t) => t.stop())));

  const broken = (t: TestApp, path: string, host = 'localhost') =>
    t.http
      .post(path)
      .set({ 'Content-Type': 'application/json', Accept: 'text/html', Host: host })
      .send('{"a": hunter2');

  it('is told so in the host`s words, and not what was in it', async () => {
    const t = await start({ options: { messages: { 'request.unreadable': 'Pardon?' } } });
    const { body } = await broken(t, '/auth/login').expect(400);
    expect(body).toEqual({ message: 'Pardon?' });
  });

  it('is told so below a global prefix, and beside it', async () => {
    const prepare = (app: TestApp['app']) => void app.setGlobalPrefix('v1.0', { exclude: ['admin/auth/*rest'] });
    const t = await start({ prepare });
    for (const path of ['/v1.0/auth/login', '/admin/auth/login']) {
      const { body } = await broken(t, path).expect(400);
      expect(body).toEqual({ message: 'The request cannot be read.' });
    }
    const { body } = await broken(t, '/v1x0/auth/login').expect(400);
    expect(body).toMatchObject({ statusCode: 400 });
  });

  it('is told so on the host name of the routes only', async () => {
    const t = await start({ options: { domain: 'login.example.com' } });
    const { body } = await broken(t, '/auth/login', 'login.example.com').expect(400);
    expect(body).toEqual({ message: 'The request cannot be read.' });
    expect((await broken(t, '/auth/login', 'www.example.com').expect(400)).body).toMatchObject({ statusCode: 400 });
  });

  it('is the host`s to answer where the module has no routes', async () => {
    const t = await start({ options: { routes: false } });
    expect((await broken(t, '/auth/login').expect(400)).body).toMatchObject({ statusCode: 400 });
  });
});
