import { PasskeyRemoved } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { Client } from 'pg';
import { eventually } from '../support/runtime/eventually';
import { ORIGIN, type Confirmed, PasskeyApp } from '../support/flows/passkeys';
import { ADA } from '../support/hosts/user-entities';

const LAST = { message: 'This is your only way to sign in. Set a password or add another passkey first.' };

/** What `passkeys.keepLast` answers for the user Bob. */
let ofBob: unknown;

describe('the last passkey of a user', () => {
  beforeEach(() => void (ofBob = false));
  const app = PasskeyApp.forFile({
    storeTimeoutMs: 20_000,
    passkeys: {
      keepLast: (user: object) => ('email' in user && String(user.email).startsWith('bob') ? (ofBob as boolean) : true),
    },
  });
  let user: Confirmed;
  /** Enrols passkeys with the password, which is removed afterwards. The confirmation is one with a passkey. */
  const passwordless = async (count: number, email = ADA): Promise<string[]> => {
    const enrolled = await app.confirmed(email);
    const device = new SoftAuthenticator(ORIGIN);
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push(await app.enrol(enrolled, device));
    await app.t.database.query('UPDATE people SET password_hash = NULL WHERE email = $1', [email]);
    const session = await app.signIn(device);
    const answer = await app.answer(device);
    const { body } = await app.t.call('post', '/auth/confirm-passkey', session.access_token).send(answer).expect(200);
    user = { ...session, proof: body.confirmation_token };
    return ids;
  };
  const remove = (id: string) => app.call('delete', `passkeys/${id}`, user);

  it('stays while the user has no password', async () => {
    const [id] = await passwordless(1);
    const removed = app.t.recorded(PasskeyRemoved);
    expect((await remove(id!).expect(409)).body).toEqual(LAST);
    expect(await app.rows()).toHaveLength(1);
    expect(removed).toEqual([]);
  });

  it('can be deleted by a user with a password, and after another passkey was added', async () => {
    const enrolled = await app.confirmed(ADA);
    const id = await app.enrol(enrolled, new SoftAuthenticator(ORIGIN));
    user = enrolled;
    await remove(id).expect(204);
    const [first, second] = await passwordless(2);
    await remove(first!).expect(204);
    await remove(second!).expect(409);
  });

  it('can be deleted where passkeys.keepLast returns false for the user', async () => {
    const [id] = await passwordless(1, 'bob@example.com');
    await remove(id!).expect(204);
    expect(await app.rows()).toEqual([]);
  });

  it.each([[undefined], [null], [0], ['']])('stays where passkeys.keepLast returns %j for the user', async (answer) => {
    ofBob = answer;
    const [id] = await passwordless(1, 'bob@example.com');
    await remove(id!).expect(409);
    expect(await app.rows()).toHaveLength(1);
  });

  it('is not mentioned for an id that the user does not have', async () => {
    await passwordless(1);
    await remove('AAAA').expect(204);
    expect(await app.rows()).toHaveLength(1);
  });

  it('stays when all passkeys are deleted at the same time', async () => {
    const ids = await passwordless(3);
    // Every deletion has begun before one of them can continue.
    const other = new Client({ connectionString: app.t.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM svc_passkeys FOR UPDATE');
    const answers = Promise.all(ids.map((id) => remove(id)));
    await eventually(async () => {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      return (await app.t.database.query(waiting)).length === ids.length;
    });
    await other.query('COMMIT');
    await other.end();
    expect((await answers).map(({ status }) => status).toSorted()).toEqual([204, 204, 409]);
    expect(await app.rows()).toHaveLength(1);
  });
});

describe('the last passkey without passkeys.keepLast', () => {
  const app = PasskeyApp.forFile();

  it('can be deleted', async () => {
    const user = await app.confirmed(ADA);
    const device = new SoftAuthenticator(ORIGIN);
    const id = await app.enrol(user, device);
    await app.t.database.query('UPDATE people SET password_hash = NULL');
    const session = await app.signIn(device);
    const answer = await app.answer(device);
    const { body } = await app.t.call('post', '/auth/confirm-passkey', session.access_token).send(answer).expect(200);
    await app.call('delete', `passkeys/${id}`, { ...session, proof: body.confirmation_token }).expect(204);
  });
});
