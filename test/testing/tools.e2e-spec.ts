import { Controller, Get, UseGuards } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import {
  AuthConfigError,
  PasswordHasher,
  SessionEnded,
  SessionStarted,
  SharedThrottlerStorage,
  Throttled,
} from '@svc/auth';
import {
  EventRecorder,
  Outage,
  actAs,
  clientAddresses,
  enrolTwoFactor,
  outOfTheWay,
  totpCode,
} from '@svc/auth/testing';
import { Agent } from 'node:http';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { TestApp } from '../support/hosts/app';
import { HostController } from '../support/hosts/host.module';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const ONCE = { maxAttempts: 1, decaySeconds: 3600 };

@Controller('limited')
class LimitedController {
  @Get('own')
  @Throttled('own')
  own() {
    return {};
  }

  @Get('throttler')
  @UseGuards(ThrottlerGuard)
  throttler() {
    return {};
  }
}

describe('outOfTheWay', () => {
  const t = TestApp.forFile({
    controllers: [HostController, LimitedController],
    options: {
      features: { lockout: true },
      lockout: { maxAttempts: 2 },
      rateLimits: {
        login: { ...ONCE, ipMaxAttempts: 1, accountMaxAttempts: 1 },
        refresh: ONCE,
        confirm: ONCE,
        limiters: { own: (_, { client }) => ({ key: client, ...ONCE }) },
      },
    },
    imports: [
      ThrottlerModule.forRootAsync({
        inject: [SharedThrottlerStorage],
        useFactory: (storage: SharedThrottlerStorage) => ({ throttlers: [{ ttl: 3_600_000, limit: 1 }], storage }),
      }),
    ],
  });

  beforeEach(async () => {
    await t.person(ADA);
    await t.person(ADA, 'admin');
  });

  const statuses = async (times: number, send: () => PromiseLike<{ status: number }>): Promise<number[]> => {
    const all: number[] = [];
    while (all.length < times) all.push((await send()).status);
    return [...new Set(all)];
  };

  it.each(['api', 'admin'])('lets every login of the guard %s reach the check of the password', async (guard) => {
    const restore = outOfTheWay(t.app);
    expect(await statuses(10, () => t.login(ADA, 'wrong', guard))).toEqual([422]);
    expect(await statuses(5, () => t.login(ADA, PASSWORD, guard))).toEqual([200]);
    restore();
  });

  it('removes the limits of other routes, of the host`s own limiters and of its throttler', async () => {
    const restore = outOfTheWay(t.app);
    const { access_token: token } = await t.session();
    expect(await statuses(5, () => t.refresh('unknown'))).toEqual([401]);
    const confirm = () => t.call('post', '/auth/confirm-password', token).send({ password: PASSWORD });
    expect(await statuses(5, confirm)).toEqual([200]);
    for (const path of ['/limited/own', '/limited/throttler'])
      expect(await statuses(5, () => t.get(path))).toEqual([200]);
    restore();
  });

  it('has no effect before, and none after the limits are restored', async () => {
    expect(await statuses(2, () => t.get('/limited/own'))).toEqual([200, 429]);
    const restore = outOfTheWay(t.app);
    expect(await statuses(2, () => t.get('/limited/own'))).toEqual([200]);
    restore();
    expect(await statuses(2, () => t.get('/limited/own'))).toEqual([429]);
  });
});

describe('outOfTheWay, without the limits on attempts', () => {
  const t = TestApp.forFile({ options: { features: { lockout: true }, lockout: { maxAttempts: 1 } } });

  it('removes an existing lock, until it is restored', async () => {
    await t.person(ADA);
    await t.login(ADA, 'wrong').expect(422);
    await t.login(ADA, PASSWORD).expect(423);
    const restore = outOfTheWay(t.app);
    await t.login(ADA, 'wrong').expect(422);
    restore();
    await t.login(ADA, PASSWORD).expect(423);
  });
});

describe.each([
  ['Express', false],
  ['Fastify', true],
])('clientAddresses on %s', (_, fastify) => {
  let from: (address: string) => Record<string, string>;
  const t = TestApp.forFile({
    fastify,
    prepare: (app) => (from = clientAddresses(app)),
    options: { rateLimits: { login: { ...ONCE, ipMaxAttempts: 1 } } },
  });
  beforeEach(() => t.person(ADA));

  const login = (headers: Record<string, string>) =>
    t.http.post('/auth/login').set(headers).send({ email: ADA, password: PASSWORD });

  it('gives each request its client address, for limits and for the list of sessions', async () => {
    const { body } = await login(from('203.0.113.7')).expect(200);
    await login(from('203.0.113.7')).expect(429);
    await login(from('2001:db8::1')).expect(200);
    const list = await t.get('/auth/sessions', body.access_token).expect(200);
    expect(list.body.data.map(({ ip }: { ip: string }) => ip).toSorted()).toEqual(['2001:db8::1', '203.0.113.7']);
  });

  it('leaves a request without the header, or with another text in it, at its own address', async () => {
    const [name] = Object.keys(from('203.0.113.7'));
    await login({}).expect(200);
    await login({ [name!]: 'anything' }).expect(429);
    await login(from('203.0.113.7')).expect(200);
  });

  it('separates the requests of one connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const url = await t.app.getUrl();
    const send = (headers: Record<string, string>) =>
      request(url).post('/auth/login').agent(agent).set(headers).send({ email: ADA, password: PASSWORD });
    await send(from('203.0.113.7')).expect(200);
    await send({}).expect(200);
    await send(from('203.0.113.7')).expect(429);
    agent.destroy();
  });

  it('accepts addresses only', () => {
    expect(() => from('localhost')).toThrow(new RangeError('"localhost" is not an IP address'));
  });

  if (fastify) {
    it('works with inject', async () => {
      const app = t.app as NestFastifyApplication;
      const inject = (headers: Record<string, string>) =>
        app.inject({ method: 'POST', url: '/auth/login', headers, payload: { email: ADA, password: PASSWORD } });
      expect((await inject(from('203.0.113.8'))).statusCode).toBe(200);
      expect((await inject(from('203.0.113.8'))).statusCode).toBe(429);
      expect((await inject(from('203.0.113.9'))).statusCode).toBe(200);
    });
  }
});

describe('with second factors', () => {
  const t = TestApp.forFile({ options: { features: { twoFactor: true } } });
  beforeEach(() => t.person(ADA));

  describe('enrolTwoFactor', () => {
    beforeEach(() => t.person(ADA, 'admin'));

    const answer = async (proof: object, guard = 'api') => {
      const { body } = await t.login(ADA, PASSWORD, guard).expect(200);
      const sent = { challenge_token: body.challenge_token, ...proof };
      return (await t.http.post(`${t.paths[guard]}/two-factor-challenge`).send(sent)).status;
    };

    it.each(['api', 'admin'])(
      'enables a second factor of the guard %s, with codes and recovery codes',
      async (guard) => {
        const factor = await enrolTwoFactor(t.app, 1, guard);
        const [code] = [factor.code()];
        expect(await answer({ code }, guard)).toBe(200);
        expect(await answer({ code }, guard)).toBe(422);
        expect(await answer({ code: factor.code(1) }, guard)).toBe(200);
        const [recoveryCode] = factor.recoveryCodes;
        expect(await answer({ recovery_code: recoveryCode }, guard)).toBe(200);
        expect(await answer({ recovery_code: recoveryCode }, guard)).toBe(422);
        expect(factor.recoveryCodes).toHaveLength(8);
      },
    );

    it('computes codes by the clock of the application', async () => {
      const factor = await enrolTwoFactor(t.app, '1');
      t.clock.advance(86_400);
      expect(new URL(factor.otpauthUri).searchParams.get('secret')).toBe(factor.secret);
      expect(await answer({ code: totpCode(factor.otpauthUri, t.clock) })).toBe(200);
      t.clock.stop();
      t.clock.advance(30);
      expect(await answer({ code: factor.code() })).toBe(200);
      expect(await answer({ code: factor.code() })).toBe(422);
    });

    it('refuses a user who has a factor, an unknown user, and an unknown guard', async () => {
      await enrolTwoFactor(t.app, 1);
      await expect(enrolTwoFactor(t.app, 1)).rejects.toMatchObject({ code: 'already_enrolled' });
      await expect(enrolTwoFactor(t.app, 7)).rejects.toMatchObject({ code: 'unauthenticated' });
      await expect(enrolTwoFactor(t.app, 1, 'none')).rejects.toThrow(AuthConfigError);
    });
  });

  describe('an outage', () => {
    let outage: Outage;
    beforeEach(() => void (outage = new Outage(t.app)));
    afterEach(() => outage.end());

    it('of Redis is answered 503 by guarded routes and by the library, until it ends', async () => {
      const { access_token: token, refresh_token: refresh } = await t.session();
      outage.redis();
      const { headers } = await t.get('/private', token).expect(503);
      expect(headers['retry-after']).toBe('1');
      await t.login(ADA).expect(503);
      await t.refresh(refresh).expect(503);
      outage.end();
      await t.get('/private', token).expect(200);
      await t.refresh(refresh).expect(200);
    });

    it('of PostgreSQL is answered 503, and fails the host`s own queries like an unreachable server', async () => {
      const { access_token: token } = await t.session();
      outage.postgres();
      await t.get('/private', token).expect(503);
      await t.login(ADA).expect(503);
      await expect(t.app.get(DataSource).query('SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      outage.end();
      await t.get('/private', token).expect(200);
      expect(await t.app.get(DataSource).query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });

    it('of both ends for both', async () => {
      outage.redis();
      outage.postgres();
      outage.redis();
      await t.login(ADA).expect(503);
      outage.end();
      await t.login(ADA).expect(200);
    });

    it('has no effect on another application', async () => {
      const other = await TestApp.start({ databaseUrl: t.databaseUrl });
      outage.redis();
      outage.postgres();
      await other.login(ADA).expect(200);
      await other.stop();
    });
  });

  describe('a recorder without classes', () => {
    it('records every event with its name, and waits for one', async () => {
      const events = new EventRecorder(t.app);
      const pending = events.waitFor(SessionEnded, ({ reason }) => reason === 'logout');
      const { access_token: token } = await t.session();
      await t.call('post', '/auth/logout', token).expect(204);
      expect(await pending).toBeInstanceOf(SessionEnded);
      expect(events.names).toEqual(['SessionStarted', 'SessionEnded']);
      expect(events.of(SessionStarted)).toEqual([events.all[0]]);
      events.clear();
      expect(events.names).toEqual([]);
    });

    it('records also the event that comes before a deletion', async () => {
      const events = new EventRecorder(t.app);
      const { headers } = await actAs(t.app, 1, { confirmed: true });
      await t.http.delete('/auth/account').set(headers).expect(204);
      expect(events.names).toEqual(expect.arrayContaining(['AccountDeleting', 'SessionEnded', 'AccountDeleted']));
    });

    it('records an event once, also beside a recorder of its class', async () => {
      const [every, one] = [new EventRecorder(t.app), new EventRecorder(t.app, SessionStarted)];
      await t.session();
      expect([every.names, one.names]).toEqual([['SessionStarted'], ['SessionStarted']]);
    });

    it('names what it has recorded, if the event does not come', async () => {
      const events = new EventRecorder(t.app);
      await t.session();
      await expect(events.waitFor(SessionStarted, () => false, 0.1)).rejects.toThrow(
        'no such SessionStarted; recorded: SessionStarted',
      );
    });
  });
});

describe('a stopped clock', () => {
  const t = TestApp.forFile({ options: { features: { lockout: true } } });
  beforeEach(() => t.person(ADA));

  const rows = (): Promise<Record<string, Date | null>[]> =>
    t.database.query('SELECT created_at, last_used_at, auth_time, revoked_at, expires_at FROM svc_sessions');

  /** Stops the clock at a whole second. */
  const stop = (): number => {
    t.clock.stop();
    t.clock.advance((1000 - (t.clock.now() % 1000)) / 1000);
    return Math.round(t.clock.now());
  };

  it('stops the time of rows: all rows of a time have exactly this time', async () => {
    const now = stop();
    const { access_token: token } = await t.session();
    await t.session();
    await t.login(ADA, 'wrong').expect(422);
    const at = new Date(now);
    const live = { created_at: at, last_used_at: at, auth_time: at, revoked_at: null };
    const expires_at = new Date(now + 2_592_000_000);
    expect(await rows()).toEqual([
      { ...live, expires_at },
      { ...live, expires_at },
    ]);
    expect(await t.database.query('SELECT updated_at FROM svc_lockouts')).toEqual([{ updated_at: at }]);

    t.clock.advance(60);
    await t.call('post', '/auth/logout', token).expect(204);
    expect((await rows()).flatMap(({ revoked_at }) => revoked_at ?? [])).toEqual([new Date(now + 60_000)]);
  });

  it('decides a boundary to the millisecond: the last moment of the grace period, and the one after it', async () => {
    stop();
    const first = await t.session();
    await t.refresh(first.refresh_token).expect(200);
    t.clock.advance(30);
    await t.refresh(first.refresh_token).expect(200);
    t.clock.advance(0.001);
    await t.refresh(first.refresh_token).expect(401);
  });

  it('moves with advance(), also back, and runs again after reset()', async () => {
    const now = stop();
    t.clock.advance(-3600);
    await t.session();
    expect((await rows())[0]!.created_at).toEqual(new Date(now - 3_600_000));
    await t.reset();
    await t.person(ADA);
    await t.session();
    await t.session();
    const [one, two] = await rows();
    expect(two!.created_at).not.toEqual(one!.created_at);
  });

  it('gives code that uses its offset as an interval about the same time', async () => {
    const now = stop();
    t.clock.advance(3600);
    const statement = 'SELECT extract(epoch FROM clock_timestamp() + $1::interval)::float8 * 1000 AS now';
    const [row] = await t.database.query(statement, [t.clock.offset]);
    expect(row.now).toBeGreaterThanOrEqual(now + 3_600_000);
    expect(row.now).toBeLessThan(now + 3_660_000);
  });

  it('hashes passwords as usual', async () => {
    stop();
    expect(await t.app.get(PasswordHasher).hash(PASSWORD)).toMatch(/^\$argon2id\$/);
  });
});
