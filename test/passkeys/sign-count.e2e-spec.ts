import { PasskeyBackupChanged, PasskeyCloneDetected } from '@svc/auth';
import { type Confirmed, NOT_VERIFIED, ORIGIN, PasskeyApp } from '../support/passkeys';
import { SoftAuthenticator } from '../support/soft-authenticator';

describe('a passkey that is used', () => {
  let app: PasskeyApp;
  let ada: Confirmed;
  let authenticator: SoftAuthenticator;
  let id: string;
  let clones: PasskeyCloneDetected[];
  let backups: PasskeyBackupChanged[];

  beforeAll(async () => {
    app = await PasskeyApp.start();
    ada = await app.confirmed();
    clones = app.t.recorded(PasskeyCloneDetected);
    backups = app.t.recorded(PasskeyBackupChanged);
  });
  beforeEach(async () => {
    await app.t.database.query('DELETE FROM passkeys');
    authenticator = new SoftAuthenticator(ORIGIN);
    id = await app.enrol(ada, authenticator);
    clones.length = 0;
    backups.length = 0;
  });
  afterAll(() => app.stop());

  const stored = async () => (await app.rows())[0]!;

  it.each([
    [10, 0],
    [10, 10],
    [10, 9],
    [1, 0],
    [1, 1],
    [4_294_967_295, 4_294_967_295],
    [4_294_967_295, 0],
  ])('having counted %d and now %d, is refused and reported, and its count never falls', async (count, next) => {
    await app.setCount(count);
    const [row, sessions] = [await stored(), await app.sessions()];
    const { status, body } = await app.attempt(authenticator, { count: next });
    expect({ status, body }).toEqual({ status: 422, body: NOT_VERIFIED });
    expect(clones).toEqual([new PasskeyCloneDetected('1', id, 'api')]);
    expect(await stored()).toEqual(row);
    expect(await app.sessions()).toBe(sessions);
    if (count < 4_294_967_295) await app.signIn(authenticator, { count: count + 1 });
  });

  it('and does not count is accepted for ever', async () => {
    for (let i = 0; i < 5; i++) await app.signIn(authenticator, { count: 0 });
    expect(clones).toEqual([]);
    expect(await stored()).toMatchObject({ sign_count: '0' });
  });

  it.each([
    [0, 1],
    [0, 4_294_967_295],
    [10, 11],
    [10, 3_000_000_000],
    [4_294_967_294, 4_294_967_295],
  ])('having counted %d and now %d, is accepted, and that is stored', async (count, next) => {
    await app.setCount(count);
    await app.signIn(authenticator, { count: next });
    expect(await stored()).toMatchObject({ sign_count: String(next) });
    expect(clones).toEqual([]);
  });

  it('raises no alarm for a response that it did not sign', async () => {
    await app.setCount(10);
    const other = new SoftAuthenticator(ORIGIN);
    other.create(await app.creationOptions(ada), { credentialId: Buffer.from(id, 'base64url') });
    expect(await app.attempt(other, { count: 0 })).toMatchObject({ status: 422 });
    expect(clones).toEqual([]);
  });

  it('is reported when it is synced for the first time, and when it is no longer', async () => {
    expect(await stored()).toMatchObject({ backup_eligible: true, backed_up: true });
    await app.signIn(authenticator, { bs: true });
    expect(backups).toEqual([]);
    await app.signIn(authenticator, { bs: false });
    await app.signIn(authenticator, { bs: false });
    expect(backups).toEqual([new PasskeyBackupChanged('1', id, 'api', false)]);
    expect(await stored()).toMatchObject({ backed_up: false });
    await app.signIn(authenticator, { bs: true });
    expect(backups.at(-1)).toEqual(new PasskeyBackupChanged('1', id, 'api', true));
    expect(await stored()).toMatchObject({ backup_eligible: true, backed_up: true });
  });

  it('is refused when it says otherwise whether it can be synced at all', async () => {
    expect(await app.attempt(authenticator, { be: false, bs: false })).toMatchObject({ status: 422 });
    await app.t.database.query('DELETE FROM passkeys');
    const key = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, key, { be: false, bs: false });
    expect(await app.attempt(key, { be: true, bs: false })).toMatchObject({ status: 422 });
    await app.signIn(key, { be: false, bs: false });
    expect(backups).toEqual([]);
  });
});
