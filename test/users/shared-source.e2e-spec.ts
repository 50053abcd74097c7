import {
  AccountDeleted,
  AccountLocked,
  AccountReleased,
  type AuthModuleOptions,
  PasswordHasher,
  type StoredCredentials,
  UserProvider,
  withAuthColumns,
} from '@svc/auth';
import { AuthConsoleModule } from '@svc/auth/console';
import { SoftAuthenticator } from '@svc/auth/testing';
import { CommandFactory } from 'nest-commander';
import { ChildEntity, Entity, PrimaryGeneratedColumn, TableInheritance } from 'typeorm';
import { runInProcess } from '../console/in-process';
import { TestApp, type Tokens } from '../support/hosts/app';
import { mailedCode, sendCode } from '../support/flows/email-code';
import { EmailChangeApp, NEW } from '../support/flows/email-change';
import { knownDeviceOptions, report, signInOn } from '../support/flows/known-devices';
import { linkIn } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { ADA, CONFIRMATION_HEADER, confirmPassword } from '../support/flows/step-up';
import { codeOf, completeChallenge, enrol, startChallenge } from '../support/flows/two-factor';
import { Member, PASSWORD, Person, VerifiablePerson } from '../support/hosts/user-entities';
import { describeWithRedis } from '../support/stores/with-redis';

const NEXT = 'plum-violin-harbour-7';
const BOB = 'bob@example.com';
const CLIENT = { ip: '203.0.113.9' };
const CHANGE = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };
const admin = { users: { entity: Member } };

describeWithRedis('what ends or protects a user of two guards', () => {
  const app = EmailChangeApp.forFile({
    ...knownDeviceOptions({ features: { emailCode: true, twoFactor: true, ...PASSKEYS.features } }),
    passkeys: PASSKEYS.passkeys,
    lockout: { maxAttempts: 3 },
    guards: { admin },
  });
  const { t, mailbox } = app;
  const passkeys = new PasskeyApp(t);
  const bearer = (token: string) => ({ ...CLIENT, headers: { authorization: `Bearer ${token}` } });

  /** Whether a session is live: its access token and its refresh token agree. */
  async function isLive(tokens: Tokens, guard: string): Promise<boolean> {
    const { status } = await t.get(guard === 'api' ? '/private' : '/staff', tokens.access_token);
    expect((await t.refresh(tokens.refresh_token, guard)).status).toBe(status);
    return status === 200;
  }
  const resetLink = async (email = ADA): Promise<{ token: string; email: string }> => {
    const before = mailbox.mails.length;
    await t.http.post('/auth/forgot-password').send({ email }).expect(200);
    const { searchParams } = await mailbox.linkAfter(before);
    return { token: searchParams.get('token')!, email };
  };
  const unproved = (): Promise<unknown> => t.database.query('UPDATE members SET email_verified_at = NULL');

  describe('ends the session at the other guard:', () => {
    it.each<[string, () => Promise<unknown>]>([
      ['a change of the password', () => t.call('post', '/auth/password', app.token).send(CHANGE).expect(200)],
      [
        'a reset of the password',
        async () => {
          const body = { ...(await resetLink()), password: NEXT, password_confirmation: NEXT };
          await t.http.post('/auth/reset-password').send(body).expect(200);
        },
      ],
      ['a change of the email', () => app.changed()],
      [
        'a sign-in with a mailed code, which takes the account over',
        async () => {
          await unproved();
          await sendCode(t, await mailedCode(t, mailbox)).expect(200);
        },
      ],
      [
        'the deletion of the account',
        () => t.call('delete', '/auth/account', app.token).set(CONFIRMATION_HEADER, app.proof).expect(204),
      ],
      ['a suspension by the host', () => t.auth.revokeAll(app.id)],
      ['a suspension by the host, except for one session', () => t.auth.revokeOthers(app.id, 'none')],
    ])('%s', async (_, act) => {
      const other = await t.session(ADA, 'admin');
      await act();
      expect(await isLive(other, 'admin')).toBe(false);
    });

    it('the undo of a change of the email, and a later change at that guard ends with it', async () => {
      const undoToken = await app.changed();
      const other = await t.session(NEW, 'admin');
      const { confirmation } = t.auth.guard('admin');
      const confirmationToken = await confirmation.byPassword(PASSWORD, bearer(other.access_token));
      const own = { request: bearer(other.access_token), confirmationToken };
      await t.auth.guard('admin').emailChange.request('thief@example.com', own as never);
      const token = await app.tokenTo('thief@example.com');
      await app.undo(undoToken).expect(200);
      expect(await isLive(other, 'admin')).toBe(false);
      await expect(t.auth.guard('admin').emailChange.confirm(token, CLIENT)).rejects.toMatchObject({ status: 422 });
    });

    it('the report of a sign-in, and no device is known there', async () => {
      await signInOn(t);
      const other = (await signInOn(t, undefined, ADA, 'admin')).body;
      await signInOn(t);
      const link = linkIn(await mailbox.nth(1));
      await report(t, link.searchParams.get('token')).expect(200);
      expect(await isLive(other, 'admin')).toBe(false);
      const known = 'SELECT 1 FROM svc_known_devices WHERE device_hash IS NOT NULL';
      expect(await t.database.query(known)).toEqual([]);
    });

    it('a change of the password at an extra guard, and the login that waits for its second factor', async () => {
      const { secret, token } = await enrol(t);
      const challenge_token = await startChallenge(t, ADA, 'admin');
      const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }, 'admin').expect(200);
      t.clock.advance(30);
      const waiting = await startChallenge(t);
      const change = { currentPassword: PASSWORD, password: NEXT };
      await t.auth.guard('admin').passwordChange.change(change, bearer(body.access_token));
      await t.get('/private', token).expect(401);
      await t.get('/staff', body.access_token).expect(200);
      await completeChallenge(t, { challenge_token: waiting, code: codeOf(t, secret) }).expect(422);
    });

    it('an end of all sessions by the host, and the login that waits for its second factor', async () => {
      const { secret } = await enrol(t);
      const challenge_token = await startChallenge(t, ADA, 'admin');
      await t.auth.revokeAll(app.id);
      await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }, 'admin').expect(422);
    });
  });

  it('removes the passkeys of an unproved address, also by a reset at a guard without passkeys', async () => {
    await unproved();
    const authenticator = new SoftAuthenticator(ORIGIN);
    await passkeys.enrol(await passkeys.confirmed(ADA), authenticator);
    const before = mailbox.mails.length;
    const { passwordReset } = t.auth.guard('admin');
    await passwordReset.request(ADA, CLIENT);
    const token = (await mailbox.linkAfter(before)).searchParams.get('token')!;
    await passwordReset.reset({ token, email: ADA, password: NEXT }, CLIENT);
    expect(await passkeys.rows()).toEqual([]);
    expect((await passkeys.attempt(authenticator)).status).toBe(422);
  });

  it('deletes the rows of the user at both guards, and announces it once', async () => {
    const deleted = t.recorded(AccountDeleted);
    await signInOn(t, undefined, ADA, 'admin');
    await t.login(ADA, 'wrong', 'admin').expect(422);
    await t.call('delete', '/auth/account', app.token).set(CONFIRMATION_HEADER, app.proof).expect(204);
    for (const table of ['svc_known_devices', 'svc_lockouts', "svc_sessions WHERE user_id <> ''"])
      expect(await t.database.query(`SELECT * FROM ${table}`)).toEqual([]);
    expect(deleted).toMatchObject([{ userId: app.id, guard: 'api' }]);
  });

  it('is not what a user does with the sessions of one guard: they end, and are listed, there only', async () => {
    const other = await t.session(ADA, 'admin');
    await t.session();
    expect((await t.get('/auth/sessions', app.token).expect(200)).body.data).toHaveLength(2);
    await t.call('delete', '/auth/sessions/others', app.token).expect(204);
    await t.call('delete', '/auth/sessions', app.token).expect(204);
    expect(await isLive(other, 'admin')).toBe(true);
  });

  describe('counts a failure at both guards:', () => {
    const counters = (): Promise<object[]> =>
      t.database.query('SELECT guard, attempts, locked_at IS NOT NULL AS locked FROM svc_lockouts ORDER BY guard');
    const both = (attempts: number, locked: boolean) => ['admin', 'api'].map((guard) => ({ guard, attempts, locked }));
    const lock = async (guards = ['admin', 'admin', 'admin']): Promise<void> => {
      for (const guard of guards) await t.login(ADA, 'wrong', guard).expect(422);
    };

    it('guesses do not double, and the lock is one event of the guard of the request', async () => {
      const locked = t.recorded(AccountLocked);
      await lock(['api', 'admin', 'admin']);
      expect(await counters()).toEqual(both(3, true));
      for (const guard of ['api', 'admin']) await t.login(ADA, PASSWORD, guard).expect(423);
      expect(await counters()).toEqual(both(3, true));
      expect(locked).toEqual([{ purpose: 'login', subject: `id:${app.id}`, guard: 'admin' }]);
    });

    it('of an identifier without an account, and of the password at step-up', async () => {
      for (const guard of ['api', 'admin', 'admin']) await t.login(BOB, 'wrong', guard).expect(422);
      for (const guard of ['api', 'admin']) await t.login(BOB, 'wrong', guard).expect(423);
      const other = await t.session(ADA, 'admin');
      const wrong = { password: 'wrong' };
      await confirmPassword(t, app.token, wrong).expect(422);
      for (let i = 0; i < 2; i++) await confirmPassword(t, other.access_token, wrong, 'admin').expect(422);
      await confirmPassword(t, app.token).expect(423);
    });

    it('concurrent guesses at both guards stay within the limit and do not block each other', async () => {
      const guesses = Array.from({ length: 16 }, (_, i) => t.login(ADA, `wrong ${i}`, i % 2 ? 'api' : 'admin'));
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 422)).toHaveLength(3);
      expect(statuses.filter((status) => status === 423)).toHaveLength(13);
      expect(await counters()).toEqual(both(3, true));
    });

    it('a success at one guard clears both', async () => {
      const released = t.recorded(AccountReleased);
      for (const guard of ['api', 'admin']) await t.login(ADA, 'wrong', guard).expect(422);
      await t.login(ADA, PASSWORD, 'admin').expect(200);
      expect(await counters()).toEqual([]);
      expect(released).toEqual([{ purpose: 'login', subject: `id:${app.id}`, guard: 'admin', failures: 3 }]);
    });

    it('a change of the password clears both', async () => {
      await lock();
      await t.call('post', '/auth/password', app.token).send(CHANGE).expect(200);
      await t.login(ADA, NEXT, 'admin').expect(200);
    });

    it('the command svc:release clears both, and says at which guards there was a lock', async () => {
      const released = t.recorded(AccountReleased);
      const application = { get: t.app.get.bind(t.app), close: async () => undefined };
      const module = AuthConsoleModule.forApplication(async () => application);
      const release = () => runInProcess(() => CommandFactory.run(module, ['error']), ['svc:release', ADA]);
      await lock();
      expect(await release()).toMatchObject({
        status: 0,
        stdout: `Released id:${app.id} (login, guards admin, api).\n`,
      });
      await t.login(ADA, 'wrong', 'admin').expect(422);
      expect(await release()).toMatchObject({
        status: 1,
        stdout: `Cleared the failures of id:${app.id} (login), which was not locked.\n`,
      });
      expect(await release()).toMatchObject({ status: 1, stdout: '' });
      expect(await counters()).toEqual([]);
      // One event for each counter that was cleared, locked or not.
      const cleared = { purpose: 'login', subject: `id:${app.id}`, guard: 'api' };
      expect(released).toEqual([
        { ...cleared, failures: 3 },
        { ...cleared, failures: 1 },
      ]);
    });

    it('an attempt that a fault of the store interrupts counts at neither', async () => {
      const hasher = t.app.get(PasswordHasher);
      const fault = Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
      jest.spyOn(hasher, 'verify').mockRejectedValueOnce(fault);
      await t.login(ADA, PASSWORD, 'admin').expect(503);
      expect(await counters()).toEqual(both(0, false));
    });
  });
});

describeWithRedis('the limits of two guards over one table of users', () => {
  const t = TestApp.forFile({
    options: {
      features: { twoFactor: true },
      rateLimits: {
        login: { maxAttempts: 4, accountMaxAttempts: 4, ipMaxAttempts: 100, decaySeconds: 60 },
        twoFactor: { maxAttempts: 4, decaySeconds: 60 },
        confirm: { maxAttempts: 4, decaySeconds: 60 },
      },
      guards: { admin: { users: { entity: Person } } },
    },
    behindProxy: true,
  });
  let from = 0;
  /** Each request has another client: only the limits of the user count. */
  const elsewhere = () => ['X-Forwarded-For', `203.0.113.${++from}`] as const;
  const guards = ['api', 'admin', 'api', 'admin', 'api', 'admin'];
  const limited = [422, 422, 422, 422, 429, 429];

  beforeEach(() => t.person(ADA));

  it('count failed logins of a user once', async () => {
    const statuses: number[] = [];
    for (const guard of guards) statuses.push((await t.login(ADA, 'wrong', guard).set(...elsewhere())).status);
    expect(statuses).toEqual(limited);
  });

  it('count failed second factors of a user once', async () => {
    await enrol(t);
    const statuses: number[] = [];
    const tokens = { api: await startChallenge(t), admin: await startChallenge(t, ADA, 'admin') };
    for (const guard of guards) {
      const body = { challenge_token: tokens[guard as 'api'], code: '000000' };
      statuses.push((await completeChallenge(t, body, guard).set(...elsewhere())).status);
    }
    expect(statuses).toEqual(limited);
  });

  it('count the confirmations of a user once', async () => {
    const tokens = { api: await t.session(), admin: await t.session(ADA, 'admin') };
    const statuses: number[] = [];
    for (const guard of guards) {
      const { access_token } = tokens[guard as 'api'];
      const call = confirmPassword(t, access_token, { password: 'wrong' }, guard).set(...elsewhere());
      statuses.push((await call).status);
    }
    expect(statuses).toEqual(limited);
  });
});

describeWithRedis('a second factor that another guard requires', () => {
  it('is not removed at a guard that requires none', async () => {
    const guards = { admin: { users: { entity: Person }, twoFactor: { required: true } } };
    const t = await TestApp.start({ options: { features: { twoFactor: true }, guards } });
    await t.person(ADA);
    const { token, proof } = await enrol(t);
    const { status } = await t.call('delete', '/auth/two-factor', token).set(CONFIRMATION_HEADER, proof);
    await t.stop();
    expect(status).toBe(409);
  });
});

@Entity('crew')
@TableInheritance({ column: { type: 'text', name: 'kind' } })
class Crew extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;
}

@ChildEntity('captain')
class Captain extends Crew {}

@ChildEntity('stoker')
class Stoker extends Crew {}

const CREW = `CREATE TABLE crew (id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, kind text NOT NULL,
  email text NOT NULL UNIQUE, password_hash text)`;

interface Known {
  id: string;
}

/** Users of a host, one of whom each guard finds. */
class Directory extends UserProvider<Known> {
  async findById(id: string): Promise<Known> {
    return { id };
  }

  async findByIdentifier(): Promise<StoredCredentials<Known>> {
    return { user: { id: '7' }, passwordHash: null };
  }

  async passwordHashOf(): Promise<null> {
    return null;
  }

  async savePasswordHash(): Promise<void> {}

  idOf({ id }: Known): string {
    return id;
  }
}

const directory = { useFactory: () => new Directory() };
const sameDirectory = { useFactory: () => new Directory() };

describeWithRedis('a source of users is', () => {
  it.each<[string, AuthModuleOptions['users'], AuthModuleOptions['users'], string[]]>([
    ['the table of two entities', { entity: Person }, { entity: VerifiablePerson }, ['admin', 'api']],
    ['the type of an inheritance, so another type is another source', { entity: Captain }, { entity: Stoker }, ['api']],
    [
      'the name of two providers',
      { provider: directory, source: 'ldap' },
      { provider: sameDirectory, source: 'ldap' },
      ['admin', 'api'],
    ],
    [
      'a provider, so another one without that name is another source',
      { provider: directory, source: 'ldap' },
      { provider: sameDirectory },
      ['api'],
    ],
  ])('%s', async (_, users, ofAdmin, guards) => {
    const t = await TestApp.start({
      entities: [VerifiablePerson, Crew, Captain, Stoker],
      tables: CREW,
      options: { users, features: { lockout: true, accountDeletion: false }, guards: { admin: { users: ofAdmin } } },
    });
    await t.login(ADA, 'wrong').expect(422);
    const rows: { guard: string }[] = await t.database.query('SELECT guard FROM svc_lockouts ORDER BY guard');
    await t.stop();
    expect(rows.map(({ guard }) => guard)).toEqual(guards);
  });
});

describeWithRedis('the start is refused', () => {
  const factors = { twoFactor: true, passkeys: true };
  const options = (
    own: Partial<AuthModuleOptions>,
    ofAdmin: object = {},
    entity: new () => object = Person,
  ): Partial<AuthModuleOptions> => ({
    features: factors,
    passkeys: { ...PASSKEYS.passkeys, ...own.passkeys },
    ...own,
    guards: { admin: { users: { entity }, ...ofAdmin } },
  });
  const required = { passkeys: { ...PASSKEYS.passkeys, required: true } };
  const all = { confirm: { factors: 'all' as const } };

  it.each<[string, Partial<AuthModuleOptions>, RegExp]>([
    [
      'for required passkeys that the other guard cannot ask for',
      options(required),
      /passkeys\.required is set, and the guard "admin" has the same users as "api", who can have passkeys.*Set guards\.admin\.passkeys\.required to false/,
    ],
    [
      'also if the other guard has another entity of the table',
      options(required, {}, VerifiablePerson),
      /passkeys\.required is set, and the guard "admin" has the same users as "api"/,
    ],
    [
      'for a confirmation with all factors, of which the other guard has no passkeys',
      options(all),
      /confirm\.factors .*is "all", and the guard "admin" has the same users as "api", who can have passkeys.*Set guards\.admin\.confirm\.factors to "one"/,
    ],
    [
      'for a confirmation with all factors, of which the other guard has no codes',
      options({ ...all, features: { twoFactor: true } }, { features: { twoFactor: false } }),
      /confirm\.factors .*who can have codes.*or switch features\.twoFactor on for this guard/,
    ],
    [
      'for a required factor that the other guard would let a user enrol again',
      options({ twoFactor: { required: true } }),
      /twoFactor\.required is set, and the guard "admin" has the same users as "api", who can have passkeys/,
    ],
  ])('%s', async (_, refused, text) => {
    await expect(TestApp.start({ options: refused, entities: [VerifiablePerson] })).rejects.toThrow(text);
  });

  it('not where the other guard says that it asks for less, nor for guards with other users', async () => {
    const less = { passkeys: { required: false }, confirm: { factors: 'one' }, twoFactor: { required: false } };
    await (
      await TestApp.start({ options: options({ ...required, ...all, twoFactor: { required: true } }, less) })
    ).stop();
    await (await TestApp.start({ options: { ...options({ ...required, ...all }), guards: {} } })).stop();
  });
});
