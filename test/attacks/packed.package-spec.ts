import { type Attack, AttackedHost, type AttackedHostOptions } from './support/attacked-host';
import { packedHost } from './support/packed-host';
import { problemsOf } from './support/response-checks';
import { ROUTES, credentials } from './support/routes';
import { hostileBearers } from './support/tokens';
import { sendValidRequests } from './support/valid-requests';
import { describeWithRedis } from '../support/stores/with-redis';

// Only the dependencies that the package declares are there. The other files here attack the sources with every value.
describeWithRedis.each<[string, AttackedHostOptions]>([
  ['Express', { fastify: false }],
  ['Fastify', { fastify: true }],
])('the packed library on %s', (_, settings) => {
  let host: AttackedHost;

  beforeAll(async () => (host = await AttackedHost.start(settings, { file: packedHost(), execArgv: [] })));
  afterAll(() => host.stop());

  it('has the routes of the sources', async () => {
    const routes = (await host.ask('routes')).filter((name) => name.includes('/auth/') && !name.startsWith('HEAD '));
    expect(routes.toSorted()).toEqual(ROUTES.map(({ name }) => name).toSorted());
  });

  it('answers valid requests to every feature', async () => {
    const answers = await sendValidRequests(host);
    const faults = [...answers].flatMap(([name, answer]) =>
      problemsOf(answer, { status: [200, 201, 202, 204] }).map((fault) => `${name}: ${fault}`),
    );
    expect(answers.size).toBeGreaterThan(50);
    expect(faults).toEqual([]);
  });

  it('refuses an invalid token and no token at every guarded route', async () => {
    const [api, admin] = [await host.visitor(), await host.visitor('admin')];
    const hostile = { api: hostileBearers(api, admin), admin: hostileBearers(admin, api) };
    const attacks = ROUTES.filter(({ needs }) => needs !== 'nothing').flatMap(({ name, method, path, guard }, i) => {
      const [of, token] = hostile[guard as 'api' | 'admin'][i % hostile.api.length]!;
      return ['', token].map((one): Attack => ({
        name: `${name}, ${one && of}`,
        send: { method, path, headers: { Authorization: `Bearer ${one.replace(/[^\x20-\x7e]/g, '')}` } },
        status: [401],
      }));
    });
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('refuses a value of a wrong type in each field, and a body that cannot be read', async () => {
    const visitors = { api: await host.ask('visitors', 10, 'api'), admin: await host.ask('visitors', 2, 'admin') };
    const attacks = ROUTES.filter(({ fields }) => fields).flatMap((route, i): Attack[] => {
      const { name, method, path, fields, body, guard } = route;
      const pool = visitors[guard as 'api' | 'admin'];
      const visitor = pool[i % pool.length]!;
      const headers = credentials(route, visitor);
      const json = { ...headers, 'Content-Type': 'application/json' };
      return [
        { name: `${name} {`, send: { method, path, headers: json, body: '{' }, status: [400] },
        ...fields!.map((field): Attack => ({
          name: `${name} ${field}`,
          send: { method, path, headers, body: { ...body?.(visitor), [field]: 7 } },
          status: [name.endsWith('/refresh') ? 401 : 422],
        })),
      ];
    });
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('is not harmed', async () => {
    expect(await host.aftermath()).toEqual([]);
  });
});
