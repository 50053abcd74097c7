import { UserProvider } from '@svc/auth';
import { Realms } from '../../libs/auth/src/realm/realm';
import { TestApp } from '../support/app';

const ADA = 'ada@example.com';

describe('a user whose email is not verified', () => {
  let t: TestApp;
  let verified: boolean | null;

  async function start(blockUnverifiedLogin: boolean): Promise<void> {
    t = await TestApp.start({ options: { emailVerification: { blockUnverifiedLogin } } });
    await t.person(ADA);
    jest.spyOn(t.app.get(Realms).default.get(UserProvider), 'isEmailVerified').mockImplementation(() => verified);
  }
  afterEach(() => t.stop());

  it('is kept from signing in, and told so only after the right password', async () => {
    await start(true);
    verified = false;
    const { body, headers } = await t.login(ADA).expect(403);
    expect(body).toEqual({ message: 'Please verify your email address before you sign in.' });
    expect(headers['set-cookie']).toBeUndefined();
    const wrong = await t.login(ADA, 'wrong').expect(422);
    const unknown = await t.login('nobody@example.com', 'wrong').expect(422);
    expect(wrong.body).toEqual(unknown.body);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });

  it('may sign in where users know no verification', async () => {
    await start(true);
    verified = null;
    await t.login(ADA).expect(200);
  });

  it('may sign in once it is verified', async () => {
    await start(true);
    verified = true;
    await t.login(ADA).expect(200);
  });

  it('may sign in where the option is off', async () => {
    await start(false);
    verified = false;
    await t.login(ADA).expect(200);
  });
});
