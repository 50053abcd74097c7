import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AuthConfigError,
  Clock,
  PasswordHasher,
  RefreshTokenReused,
  Registered,
  SessionEnded,
  TwoFactorEnabled,
} from '@svc/auth';
import {
  EventRecorder,
  MailRecorder,
  MovableClock,
  Outage,
  SoftAuthenticator,
  actAs,
  clientAddresses,
  enrolTwoFactor,
  linkIn,
  outOfTheWay,
  totpCode,
} from '@svc/auth/testing';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { createDatabase } from '../support/stores/database';
import { Operator } from '../support/hosts/user-entities';
import { AppModule as Host, User } from './host';

const PASSWORD = 'correct-horse-battery';

describe('a host that tests its own application', () => {
  let app: INestApplication;
  let clock: MovableClock;
  let from: (address: string) => Record<string, string>;
  let mailer: MailRecorder;
  let user: User;
  let cleanUp: () => Promise<void>;

  const store = async <E extends User | Operator>(entity: new () => E, fields: Partial<E>): Promise<E> => {
    const passwordHash = await app.get(PasswordHasher).hash(PASSWORD);
    return app.get(DataSource).manager.save(Object.assign(new entity(), fields, { passwordHash }));
  };

  beforeEach(async () => {
    const database = await createDatabase();
    mailer = new MailRecorder();
    const AppModule = Host.on(database.url, mailer);

    clock = new MovableClock();
    const testing = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(Clock)
      .useValue(clock)
      .compile();
    app = testing.createNestApplication();
    from = clientAddresses(app);
    await app.init();

    user = await store(User, { name: 'Ada', email: 'ada@example.com' });
    cleanUp = async () => {
      await app.close();
      await database.drop();
    };
  });

  afterEach(() => cleanUp());

  it('acts as a user with the user`s abilities, or with given abilities', async () => {
    const ada = await actAs(app, user.id);
    await request(app.getHttpServer()).post('/orders').set(ada.headers).expect(201);

    const machine = await actAs(app, user.id, { abilities: ['orders.read'] });
    await request(app.getHttpServer()).get('/orders').set(machine.headers).expect(200);
    await request(app.getHttpServer()).post('/orders').set(machine.headers).expect(403);
    await request(app.getHttpServer()).delete('/auth/sessions').set(machine.headers).expect(403);
  });

  it('acts as a user with a recent confirmation, until it expires', async () => {
    const ada = await actAs(app, user.id);
    await request(app.getHttpServer()).delete('/orders').set(ada.headers).expect(423);

    const confirmed = await actAs(app, user.id, { confirmed: true });
    await request(app.getHttpServer()).delete('/orders').set(confirmed.headers).expect(204);

    clock.advance(306);
    await request(app.getHttpServer()).delete('/orders').set(confirmed.headers).expect(423);
  });

  it('acts as a user who has signed in recently, until it is too long ago', async () => {
    const history = ({ headers }: { headers: object }) =>
      request(app.getHttpServer())
        .get('/orders/history')
        .set(headers as Record<string, string>);
    await history(await actAs(app, user.id)).expect(401);
    const signedIn = await actAs(app, user.id, { amr: ['pwd'] });
    await history(signedIn).expect(200);
    clock.advance(3000);
    const { body } = await request(app.getHttpServer())
      .post('/auth/refresh')
      .send({ refresh_token: signedIn.refreshToken })
      .expect(200);
    clock.advance(610);
    await history({ headers: { Authorization: `Bearer ${body.access_token}` } }).expect(401);
  });

  it('acts as a user of another guard, at that guard only', async () => {
    const root = await store(Operator, { email: 'root@example.com' });
    const operator = await actAs(app, root.id, { guard: 'admin' });
    await request(app.getHttpServer()).get('/reports').set(operator.headers).expect(200);
    await request(app.getHttpServer()).get('/orders').set(operator.headers).expect(401);
    await expect(actAs(app, user.id, { guard: 'none' })).rejects.toThrow(AuthConfigError);
  });

  it('uses real sessions, which every gate checks', async () => {
    const ada = await actAs(app, user.id);
    const { body } = await request(app.getHttpServer()).get('/auth/sessions').set(ada.headers).expect(200);
    expect(body.data).toMatchObject([{ id: ada.familyId, current: true }]);

    await request(app.getHttpServer()).post('/auth/logout').set(ada.headers).expect(204);
    await request(app.getHttpServer()).get('/orders').set(ada.headers).expect(401);
    await expect(actAs(app, '00000000-0000-4000-8000-000000000000')).rejects.toThrow('Authentication is required.');
  });

  it('moves the time of tokens and stored sessions, and records events', async () => {
    const events = new EventRecorder(app, RefreshTokenReused, Registered);
    const { refreshToken, headers } = await actAs(app, user.id);
    const refresh = () => request(app.getHttpServer()).post('/auth/refresh').send({ refresh_token: refreshToken });
    await refresh().expect(200);

    clock.advance(31);
    await refresh().expect(401);
    expect(events.of(RefreshTokenReused)).toHaveLength(1);
    expect(events.all).toHaveLength(1);
    await request(app.getHttpServer()).get('/orders').set(headers).expect(401);

    const later = await actAs(app, user.id);
    clock.advance(906);
    await request(app.getHttpServer()).get('/orders').set(later.headers).expect(401);
  });

  it('reads the mails that the library sends', async () => {
    const fields = { name: 'Bob', email: 'bob@example.com', password: PASSWORD, password_confirmation: PASSWORD };
    await request(app.getHttpServer()).post('/auth/register').send(fields).expect(200);

    const { pathname, search } = linkIn(await mailer.to('bob@example.com'));
    await request(app.getHttpServer())
      .get(pathname + search)
      .expect(204);
  });

  it('has an authenticator app', async () => {
    const events = new EventRecorder(app, TwoFactorEnabled);
    const { headers } = await actAs(app, user.id, { confirmed: true });
    const enrolled = await request(app.getHttpServer()).post('/auth/two-factor').set(headers).expect(200);
    const code = totpCode(enrolled.body.otpauth_uri, clock);
    await request(app.getHttpServer()).post('/auth/two-factor/confirm').set(headers).send({ code }).expect(204);
    expect(events.all).toHaveLength(1);

    const credentials = { email: 'ada@example.com', password: PASSWORD };
    const login = await request(app.getHttpServer()).post('/auth/login').send(credentials).expect(200);
    const answer = { challenge_token: login.body.challenge_token, code: totpCode(enrolled.body.otpauth_uri, clock, 1) };
    await request(app.getHttpServer()).post('/auth/two-factor-challenge').send(answer).expect(200);
  });

  it('enrols a second factor in one call', async () => {
    const factor = await enrolTwoFactor(app, user.id);
    const credentials = { email: 'ada@example.com', password: PASSWORD };
    const { body } = await request(app.getHttpServer()).post('/auth/login').send(credentials).expect(200);
    const proof = { challenge_token: body.challenge_token, code: factor.code() };
    await request(app.getHttpServer()).post('/auth/two-factor-challenge').send(proof).expect(200);
  });

  it('removes the limits, or gives each request a client of its own', async () => {
    const wrong = { email: 'bob@example.com', password: 'wrong' };
    for (let i = 1; i <= 20; i++) {
      const sent = request(app.getHttpServer())
        .post('/auth/login')
        .set(from(`203.0.113.${i}`))
        .send(wrong);
      await sent.expect(422);
    }
    // Now the limit on failures of one account applies, whatever the client is.
    await request(app.getHttpServer()).post('/auth/login').set(from('203.0.113.21')).send(wrong).expect(429);

    outOfTheWay(app);
    for (let i = 0; i < 40; i++) await request(app.getHttpServer()).post('/auth/login').send(wrong).expect(422);
  });

  it('tests an outage', async () => {
    const ada = await actAs(app, user.id);
    const outage = new Outage(app);
    outage.redis();
    await request(app.getHttpServer()).get('/orders').set(ada.headers).expect(503);
    outage.end();
    outage.postgres();
    await request(app.getHttpServer()).get('/orders').set(ada.headers).expect(503);
    outage.end();
    await request(app.getHttpServer()).get('/orders').set(ada.headers).expect(200);
  });

  it('records all events without their classes, and waits for one', async () => {
    const events = new EventRecorder(app);
    const ada = await actAs(app, user.id);
    await request(app.getHttpServer()).post('/auth/logout').set(ada.headers).expect(204);
    await events.waitFor(SessionEnded, ({ familyId }) => familyId === ada.familyId);
    expect(events.names).toEqual(['SessionStarted', 'SessionEnded']);
  });

  it('has a device with passkeys', async () => {
    const { headers } = await actAs(app, user.id, { confirmed: true });
    const device = new SoftAuthenticator('https://app.example.com');
    const made = await request(app.getHttpServer()).post('/auth/passkeys/registration-options').set(headers);
    const credential = device.create(made.body);
    await request(app.getHttpServer()).post('/auth/passkeys').set(headers).send({ credential }).expect(204);

    const { body } = await request(app.getHttpServer()).post('/auth/passkeys/login-options').expect(200);
    const assertion = { ceremony_id: body.ceremony_id, credential: device.get(body.options) };
    await request(app.getHttpServer()).post('/auth/passkeys/login').send(assertion).expect(200);
  });
});
