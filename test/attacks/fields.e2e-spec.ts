import * as fc from 'fast-check';
import { type Attack, AttackedHost, type Visitor } from './support/attacked-host';
import { ROUTES, type Route, credentials, routeNamed } from './support/routes';
import { partition } from './support/partition';
import { CHALLENGE, purposeToken } from './support/jws';
import { CREDENTIALS, NON_OBJECTS, NON_STRINGS, SEGMENTS, TEXTS, reachesPrototypes } from './support/hostile-values';
import { MAX_PARAM_LENGTH, onFastify } from '../support/hosts/adapter';
import { describeWithRedis } from '../support/stores/with-redis';

describeWithRedis('a hostile value in a request', () => {
  let host: AttackedHost;
  let visitors: Record<string, Visitor[]>;
  let turn = 0;

  beforeAll(async () => {
    host = await AttackedHost.start();
    visitors = {
      api: await host.ask('visitors', 40, 'api'),
      admin: await host.ask('visitors', 10, 'admin'),
      // A user with a second factor, after the first step of the login.
      enrolled: await host.ask('visitors', 5, 'api'),
      pending: await host.ask('visitors', 5, 'api'),
    };
    const enrol = routeNamed('POST /auth/two-factor');
    for (const visitor of [...visitors.enrolled!, ...visitors.pending!])
      await host.post(enrol.path, {}, credentials(enrol, visitor));
    const ids = visitors.enrolled!.map(({ id }) => id);
    await host.sql('UPDATE members SET two_factor_confirmed_at = now() WHERE id = ANY($1)', [ids]);
    for (const { id } of visitors.api!)
      await host.sql(
        `INSERT INTO svc_passkeys (credential_id, user_id, guard, public_key, sign_count, transports, aaguid, backup_eligible, backed_up, created_at, updated_at)
         VALUES ($1, $2, 'api', 'x', 0, '[]', $3, false, false, now(), now())`,
        [id, id, id],
      );
  });
  afterAll(() => host.stop());

  const next = (pool: string): Visitor => visitors[pool]![turn++ % visitors[pool]!.length]!;
  /** A user for whom the route checks as much of the request as possible. */
  const someoneFor = ({ name, guard }: Route): Visitor =>
    next(
      name === 'POST /auth/two-factor-challenge'
        ? 'enrolled'
        : name === 'POST /auth/two-factor/confirm'
          ? 'pending'
          : guard,
    );
  /** The visitor's own passkey, if the path contains one. */
  const pathFor = ({ name, path }: Route, { id }: Visitor): string =>
    name.startsWith('PATCH') ? `/auth/passkeys/${id}` : path;

  /** A body that passes all checks before the field under test. */
  const bodyFor = (route: Route, visitor: Visitor): Record<string, unknown> => {
    if (route.name.endsWith('/two-factor-challenge')) return { challenge_token: purposeToken(CHALLENGE, visitor) };
    return route.body?.(visitor) ?? {};
  };

  /** Whether Fastify refuses to parse a body that Express accepts. */
  const unlessUnread = (value: unknown, status: readonly number[]): readonly number[] =>
    onFastify && reachesPrototypes(value) ? [400] : status;

  const attack = (route: Route, field: string, value: unknown, status: readonly number[]): Attack => {
    const visitor = someoneFor(route);
    const { method } = route;
    const path = pathFor(route, visitor);
    return {
      name: `${route.name} ${field}=${JSON.stringify(value)?.slice(0, 60)}`,
      send: {
        method,
        path,
        headers: credentials(route, visitor),
        body: { ...bodyFor(route, visitor), [field]: value },
      },
      status: unlessUnread(value, status),
      secrets: [visitor.access, visitor.refresh],
    };
  };
  /** The same with a pending ceremony, so that the server checks the credential. */
  const live = async (route: Route, one: Attack): Promise<Attack> => {
    if (route.name === 'POST /auth/passkeys') {
      await host.post('/auth/passkeys/registration-options', {}, one.send.headers);
      return one;
    }
    const { text } = await host.post('/auth/passkeys/login-options', {});
    const { ceremony_id } = JSON.parse(text) as { ceremony_id: string };
    return { ...one, send: { ...one.send, body: { ...(one.send.body as object), ceremony_id } } };
  };
  const isObject = (route: Route, field: string): boolean => Boolean(route.objects?.includes(field));
  const refusalOf = ({ name }: Route): number => (name.endsWith('/refresh') ? 401 : 422);
  const fieldsOf = (route: Route): string[] => [...(route.fields ?? [])];
  const withFields = ROUTES.filter(({ fields }) => fields);

  afterEach(() => host.clearLockouts());

  it.each(withFields.map((route) => [route.name, route] as const))(
    'of a wrong type is refused by %s',
    async (_, route) => {
      const attacks = fieldsOf(route).flatMap((field) => {
        const values = isObject(route, field) ? NON_OBJECTS.filter((value) => value !== '') : NON_STRINGS;
        const absent = route.optional?.includes(field) ? [route.refuses, route.done, 422] : [refusalOf(route)];
        return [
          ...values.map((value) => attack(route, field, value, [refusalOf(route)])),
          attack(route, field, null, absent),
          attack(route, field, undefined, absent),
        ];
      });
      expect(await host.withstand(attacks)).toEqual([]);
    },
  );

  it.each(withFields.map((route, i) => [route.name, route, i] as const))(
    'of any text is handled by %s',
    async (_, route, i) => {
      for (const [number, field] of fieldsOf(route).entries()) {
        if (isObject(route, field)) continue;
        const attacks = partition(TEXTS, i + number, 8).map((text) =>
          attack(route, field, text, [refusalOf(route), route.refuses, route.done]),
        );
        expect(await host.withstand(attacks)).toEqual([]);
        await host.clearLockouts();
      }
    },
  );

  it('is refused if it is longer than 255 characters of any kind', async () => {
    const long = [
      'x'.repeat(256),
      '😀'.repeat(256),
      `x${'\ufe0f'.repeat(255)}`,
      'e\u0301'.repeat(128),
      '\u200d'.repeat(300),
    ];
    const attacks = withFields.flatMap((route) =>
      fieldsOf(route)
        .filter((field) => !isObject(route, field))
        .flatMap((field) => long.map((text) => attack(route, field, text, [refusalOf(route)]))),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it.each(
    withFields.filter(({ objects, done }) => objects && done !== 423).map((route) => [route.name, route] as const),
  )('of any object is handled by %s', async (_, route) => {
    const fuzz = fc.sample(
      fc.object({ maxDepth: 4, values: [fc.string({ unit: 'binary' }), fc.double(), fc.constant(null)] }),
      30,
    );
    const attacks = await Promise.all(
      [...CREDENTIALS, ...fuzz].map(async (value) => live(route, attack(route, 'credential', value, [422]))),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('is handled on every route if it is the whole body', async () => {
    const bodies = [[], [[]], {}, [null], { length: 1e9 }, JSON.parse('{"__proto__":{"email":"x","password":"y"}}')];
    const attacks = withFields.flatMap((route) =>
      [...bodies, ...fc.sample(fc.dictionary(fc.constantFrom(...fieldsOf(route)), fc.jsonValue()), 10)].map(
        (body): Attack => {
          const visitor = next(route.guard);
          const { method, path } = route;
          return {
            name: `${route.name} ${JSON.stringify(body).slice(0, 80)}`,
            send: { method, path, headers: credentials(route, visitor), body: body as object },
            status: unlessUnread(body, [refusalOf(route), route.refuses, route.done, 204]),
          };
        },
      ),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('is checked if it is the last of several fields with one name', async () => {
    const { email } = next('api');
    const twice = (last: string): string =>
      `{"email":${JSON.stringify(email)},"password":"correct-horse-battery","password":${last}}`;
    const attacks = ['"wrong"', '["correct-horse-battery"]', '{"0":"c"}', '7'].map((last): Attack => ({
      name: last,
      send: { method: 'POST', path: '/auth/login', body: twice(last), headers: { 'Content-Type': 'application/json' } },
      status: [422],
    }));
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('is handled as a path segment', async () => {
    const slots: [string, string, number][] = [
      ['DELETE', '/auth/sessions/', 404],
      ['DELETE', '/admin/auth/sessions/', 404],
      ['PATCH', '/auth/passkeys/', 404],
      ['DELETE', '/auth/passkeys/', 204],
      ['DELETE', '/auth/trusted-devices/', 204],
      ['GET', '/auth/email/verify/00000000-0000-4000-8000-000000000000/', 403],
      ['GET', '/auth/email/verify/x/', 403],
    ];
    const attacks = slots.flatMap(([method, start, status]) =>
      SEGMENTS.map((segment): Attack => {
        const visitor = next(start.startsWith('/admin') ? 'admin' : 'api');
        const headers = credentials({ needs: 'proof' } as Route, visitor);
        const refused = refusedUnasked(segment);
        return {
          name: `${method} ${start}${segment.slice(0, 60)}`,
          send: { method, path: `${start}${segment}`, headers, body: {} },
          status: [refused ?? status],
          // No error handler sees what Fastify's own router refuses.
          framework: onFastify && refused !== null,
        };
      }),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('does not harm the process', async () => {
    expect(await host.aftermath()).toEqual([]);
  });
});

/** The status that a segment gets before the router finds a route, or null if a route gets it. */
function refusedUnasked(segment: string): number | null {
  if (onFastify && segment.length > MAX_PARAM_LENGTH) return 414;
  try {
    decodeURIComponent(segment);
    return null;
  } catch {
    return 400;
  }
}
