import type { Type } from '@nestjs/common';
import { SoftAuthenticator } from '@svc/auth/testing';
import { Client } from 'pg';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { forge } from '../../../../../test/support/clients/forge';
import { type Confirmed, ORIGIN, PasskeyApp } from '../../../../../test/support/flows/passkeys';
import { PausePoint, whilePaused } from '../../../../../test/support/faults/pause-point';
import { Person } from '../../../../../test/support/hosts/user-entities';
import { confirmationTokenOf } from '../../../../../test/support/flows/step-up';
import { Database } from '../../foundation/platform/database';
import { TypeormUserProvider } from '../../identity/users/typeorm-user-provider';
import { PasskeyStore } from './passkey.store';
import { RegistrationVerifier } from './webauthn/verify-registration';

/** The same user with a token that names no session: the end of the sessions does not refuse it. */
async function withoutSession({ t }: PasskeyApp, user: Confirmed): Promise<Confirmed> {
  const access_token = forge({ without: ['fid'] });
  return { ...user, access_token, proof: await confirmationTokenOf(t, access_token) };
}

const own = <T>({ app }: PasskeyApp['t'], type: abstract new (...args: never[]) => T): T => app.get<T>(type as Type<T>);

describe('passkeys that one user registers at the same time', () => {
  const app = PasskeyApp.forFile({ passkeys: { maxPerUser: 3 } });

  it('are never more than passkeys.maxPerUser', async () => {
    const ada = await app.confirmed();
    const verifier = app.t.app.get<RegistrationVerifier>(RegistrationVerifier as Type<RegistrationVerifier>);
    const verify = verifier.verify.bind(verifier);
    const verified = new PausePoint();
    jest.spyOn(verifier, 'verify').mockImplementation(async (...args) => {
      const found = await verify(...args);
      await verified.pass();
      return found;
    });
    const calls: Promise<number>[] = [];
    for (let i = 1; i <= 8; i++) {
      // A user has one registration ceremony at a time: each request consumes its challenge before the next one starts.
      const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada));
      calls.push(app.register(ada, credential).then(({ status }) => status));
      await eventually(async () => verified.arrivals === i);
    }
    verified.resume();
    const statuses = (await Promise.all(calls)).toSorted();
    expect(statuses).toEqual([204, 204, 204, 422, 422, 422, 422, 422]);
    expect(await app.rows()).toHaveLength(3);
    await app.enrol(await app.confirmed('bob@example.com'), new SoftAuthenticator(ORIGIN));
  });
});

describe('a passkey registration that is late', () => {
  const app = PasskeyApp.forFile({ storeTimeoutMs: 20_000 });
  const { t } = app;
  const checkpoint = PausePoint.disabled();
  let ada: Confirmed;

  beforeEach(async () => void (ada = await app.confirmed()));

  const credentialOf = async (user: Confirmed) => new SoftAuthenticator(ORIGIN).create(await app.creationOptions(user));
  const erase = (): Promise<unknown> => Promise.resolve(app.call('delete', 'account', ada).expect(204));

  it('is not stored after the deletion of its user', async () => {
    const user = await withoutSession(app, ada);
    const verifier = own(t, RegistrationVerifier);
    const verify = verifier.verify.bind(verifier);
    jest.spyOn(verifier, 'verify').mockImplementation(async (...args) => checkpoint.pass().then(() => verify(...args)));
    const { status } = await whilePaused(checkpoint, app.register(user, await credentialOf(user)), erase);
    expect(status).toBe(422);
    expect(await app.rows()).toEqual([]);
  });

  it('is not stored if the host deletes the user between its check of the session and its insertion', async () => {
    const store = own(t, PasskeyStore);
    const add = store.add.bind(store);
    jest.spyOn(store, 'add').mockImplementation(async (...args) => checkpoint.pass().then(() => add(...args)));
    const remove = () => t.database.query('DELETE FROM people');
    const { status } = await whilePaused(checkpoint, app.register(ada, await credentialOf(ada)), remove);
    expect(status).toBe(422);
    expect(await app.rows()).toEqual([]);
  });

  it('makes a deletion wait, which then removes it', async () => {
    const store = own(t, PasskeyStore);
    const add = store.add.bind(store);
    jest.spyOn(store, 'add').mockImplementation(async (...args) => {
      const isAdded = await add(...args);
      await checkpoint.pass();
      return isAdded;
    });
    let erasing: Promise<unknown> | undefined;
    const { status } = await whilePaused(checkpoint, app.register(ada, await credentialOf(ada)), async () => {
      erasing = erase();
      await eventually(async () => {
        const waiting = await t.database.query(
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        return waiting.length > 0;
      });
    });
    expect(status).toBe(204);
    await erasing;
    expect(await app.rows()).toEqual([]);
  });
});

describe('a passkey registration of a user in a view whose rows cannot be locked', () => {
  const app = PasskeyApp.forFile();
  const { t } = app;

  it('is stored, and statements remain prepared', async () => {
    const ada = await app.confirmed();
    const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(ada));
    const { tableName } = t.database.getMetadata(Person);
    await t.database.query(`ALTER TABLE ${tableName} RENAME TO all_users`);
    try {
      await t.database.query(`CREATE VIEW ${tableName} AS SELECT DISTINCT * FROM all_users`);
      await app.register(ada, credential).expect(204);
      expect(await app.rows()).toHaveLength(1);
      // The same error, of a statement that cannot succeed.
      const refused = own(t, Database).query('SELECT DISTINCT 1 FOR UPDATE');
      await expect(refused).rejects.toMatchObject({ code: '0A000' });
      const query = jest.spyOn(Client.prototype, 'query');
      await t.get('/private', ada.access_token).expect(200);
      const calls = query.mock.calls as unknown as [{ name?: string }][];
      expect(calls.some(([{ name }]) => name?.startsWith('svc-'))).toBe(true);
    } finally {
      await t.database.query(`DROP VIEW IF EXISTS ${tableName}`);
      await t.database.query(`ALTER TABLE all_users RENAME TO ${tableName}`);
    }
  });
});

describe('a passkey registration that is late, where no statement can look up the user', () => {
  const app = PasskeyApp.forFile();

  it('is removed again if its user was deleted', async () => {
    // As with a user provider of the host.
    jest.spyOn(TypeormUserProvider.prototype, 'existsLockedSql').mockReturnValue(null);
    const ada = await app.confirmed();
    const user = await withoutSession(app, ada);
    const verifier = app.t.app.get<RegistrationVerifier>(RegistrationVerifier as Type<RegistrationVerifier>);
    const verify = verifier.verify.bind(verifier);
    const checkpoint = PausePoint.disabled();
    jest.spyOn(verifier, 'verify').mockImplementation(async (...args) => checkpoint.pass().then(() => verify(...args)));
    const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(user));
    const { status } = await whilePaused(checkpoint, app.register(user, credential), () =>
      app.call('delete', 'account', ada).expect(204),
    );
    expect(status).toBe(401);
    expect(await app.rows()).toEqual([]);
  });
});
