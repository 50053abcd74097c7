import { METHODS } from 'node:http';
import { Attacked, type Attack } from './support/attacked';
import { life } from './support/life';
import { faultsOf } from './support/oracle';
import { ROUTES, type Route, credentials } from './support/routes';
import { each } from './support/wire';
import { onFastify } from '../support/adapter';
import { describeWithRedis } from '../support/with-redis';

describeWithRedis('the routes of the package, as a host has them', () => {
  let host: Attacked;

  beforeAll(async () => (host = await Attacked.start()));
  afterAll(() => host.stop());

  const paths = [...new Set(ROUTES.map(({ path }) => path))];
  /** The methods that a path has, by whichever route. */
  const mounted = (path: string): string[] =>
    ROUTES.filter(({ name }) => patternOf(name).test(path)).map(({ method }) => method);

  it('are all in the table that the attacks are made from', async () => {
    const routes = (await host.ask('routes')).filter((route) => route.includes('/auth/') && route !== PROBE);
    expect(routes.toSorted()).toEqual(ROUTES.map(({ name }) => name).toSorted());
  });

  it('answer good requests as promised, and say of caches what they have to', async () => {
    const answers = await life(host);
    // The routes to enrol are the default guard's.
    const asked = ROUTES.filter(({ name }) => name !== 'POST /admin/auth/two-factor-challenge');
    expect([...answers.keys()].toSorted()).toEqual(asked.map(({ name }) => name).toSorted());
    const faults = asked.flatMap((route) => {
      const answer = answers.get(route.name)!;
      const wrong = faultsOf(answer, { status: [200, 201, 202, 204] });
      return [...wrong, ...cacheFaults(route, answer.headers)].map((fault) => `${route.name}: ${fault}`);
    });
    expect(faults).toEqual([]);
  });

  it('answer no other method, and none by another name', async () => {
    const others = METHODS.filter((method) => !['CONNECT', 'HEAD'].includes(method));
    const override = { 'X-HTTP-Method-Override': 'POST', 'X-HTTP-Method': 'POST', 'X-Method-Override': 'DELETE' };
    const attacks = paths.flatMap((path) =>
      others
        .filter((method) => !mounted(path).includes(method))
        .map((method): Attack => ({
          name: `${method} ${path}`,
          send: { method, path: `${path}?_method=POST`, headers: override },
          // Fastify knows this method, and that it has a body.
          status: [onFastify && method === 'QUERY' ? 400 : 404],
          framework: true,
        })),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('do by another name what they do by their own', async () => {
    const visitor = await host.visitor();
    const headers = { ...credentials({ needs: 'token' } as Route, visitor), 'X-HTTP-Method-Override': 'DELETE' };
    for (let i = 0; i < 2; i++) {
      const { status } = await host.wire.send({ path: '/auth/sessions?_method=DELETE', headers });
      expect(status).toBe(200);
    }
  });

  it('answer HEAD like GET, without a body, but for a link in a mail', async () => {
    const visitor = await host.visitor();
    const admin = await host.visitor('admin');
    const faults = await each([...ROUTES], async (route) => {
      const headers = credentials({ needs: 'proof' } as Route, route.guard === 'api' ? visitor : admin);
      const { status, text } = await host.wire.send({ method: 'HEAD', path: route.path, headers });
      const get = ROUTES.find((one) => one.path === route.path && one.method === 'GET');
      const expected = get?.name === PROBE.replace('HEAD', 'GET') ? 204 : (get?.refuses ?? 404);
      return status === expected && text === '' ? [] : [`${route.name}: ${status} ${text}`];
    });
    expect(faults.flat()).toEqual([]);
  });

  it('open to no other origin', async () => {
    const headers = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' };
    const answers = await each(paths, (path) => host.wire.send({ method: 'OPTIONS', path, headers }));
    const said = answers.flatMap((answer) => Object.keys(answer.headers));
    expect(said.filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('leave the process whole', async () => {
    expect(await host.aftermath()).toEqual([]);
  });
});

/** Mail programs ask for the headers of a link; that one does nothing, and is told nothing. */
const PROBE = 'HEAD /auth/email/verify/:id/:hash';

const patternOf = (name: string): RegExp => new RegExp(`^${name.split(' ')[1]!.replace(/:\w+/g, '[^/]+')}$`);

function cacheFaults({ cache }: Route, headers: Record<string, unknown>): string[] {
  const expected = {
    'no-store': ['no-store, private', 'no-cache'],
    public: ['max-age=3600, public', undefined],
    plain: [undefined, undefined],
  }[cache];
  const [control, pragma] = [headers['cache-control'], headers.pragma];
  return control === expected[0] && pragma === expected[1]
    ? []
    : [`caches are told ${String(control)}, ${String(pragma)}`];
}
