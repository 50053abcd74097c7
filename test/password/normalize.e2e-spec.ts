import argon2 from 'argon2';
import { Auth, PasswordHasher, PwnedPasswords, StoreUnavailable, ValidationFailed } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { ADA, confirmPassword } from '../support/flows/step-up';
import { type Mailbox, linkIn, member, membersForFile } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';

// ü is one character on a phone, and two in some programs on a Mac; the ligature is another letter only in NFC.
const PHONE = 'gr\u00fcner Waschb\u00e4r';
const MAC = PHONE.normalize('NFD');
const FULL_WIDTH = PHONE.replace('g', '\uff47');
const LONG = '\u00fc'.repeat(200);

const both = (password: string) => ({ password, password_confirmation: password });

const storedHash = async (t: TestApp, email = ADA): Promise<string> =>
  (await t.database.query('SELECT password_hash FROM members WHERE email = $1', [email]))[0].password_hash;

/** Sets the password of a member in each way, and returns what signs in. */
const WAYS: Record<string, (t: TestApp, mailbox: Mailbox, password: string) => Promise<string>> = {
  registration: async (t, _, password) => {
    await t.http
      .post('/auth/register')
      .send({ name: 'x', email: 'new@example.com', ...both(password) })
      .expect(200);
    return 'new@example.com';
  },
  change: async (t, _, password) => {
    const { access_token: token } = await t.session();
    await t
      .call('post', '/auth/password', token)
      .send({ current_password: PASSWORD, ...both(password) })
      .expect(200);
    return ADA;
  },
  reset: async (t, mailbox, password) => {
    await t.http.post('/auth/forgot-password').send({ email: ADA });
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token');
    await t.http
      .post('/auth/reset-password')
      .send({ token, email: ADA, ...both(password) })
      .expect(200);
    return ADA;
  },
  'code of the host': async (t, _, password) => {
    const hash = await t.app.get(PasswordHasher).hash(password);
    await t.database.query('UPDATE members SET password_hash = $1 WHERE email = $2', [hash, ADA]);
    return ADA;
  },
};

describe('with hashing.normalize NFKC', () => {
  const { t, mailbox } = membersForFile({
    hashing: { memoryCost: 64, timeCost: 1, normalize: 'NFKC' },
    passwords: { blockList: ['Gr\u00fcner Fuchs'] },
    appName: 'B\u00e4renbuch Verlag',
  });

  beforeEach(() => member(t, ADA));

  it.each(Object.keys(WAYS))('a password that is set by %s is accepted in every spelling', async (way) => {
    const email = await WAYS[way]!(t, mailbox, MAC);
    for (const spelling of [PHONE, MAC, FULL_WIDTH, PHONE]) await t.login(email, spelling).expect(200);
    await t.login(email, PHONE.replaceAll('\u00fc', 'u')).expect(422);
    expect(await storedHash(t, email)).toMatch(/^NFKC:\$argon2id\$/);
  });

  it('a password confirms and is changed in another spelling than it was set', async () => {
    await WAYS.change!(t, mailbox, MAC);
    const { access_token: token } = (await t.login(ADA, PHONE).expect(200)).body;
    await confirmPassword(t, token, { password: FULL_WIDTH }).expect(200);
    const change = (password: string) =>
      t.call('post', '/auth/password', token).send({ current_password: PHONE, ...both(password) });
    expect((await change(MAC).expect(422)).body.errors.password).toEqual([expect.stringContaining('current')]);
    await change('another horse entirely').expect(200);
  });

  it('a confirmation in another spelling is the same password', async () => {
    const body = { name: 'x', email: 'new@example.com', password: PHONE, password_confirmation: MAC };
    await t.http.post('/auth/register').send(body).expect(200);
  });

  it.each([
    [
      'a common password in full-width letters',
      '\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff11\uff12\uff13',
      'most common',
    ],
    ['a password of the block list', 'Gr\u00fcner Fuchs'.normalize('NFD'), 'most common'],
    ['the name of the application', 'b\u00e4renbuch verlag'.normalize('NFD'), 'name'],
    ['the email of the account', '\uff4e\uff45\uff57@example.com', 'name'],
    ['seven characters that are entered as eight', 'B\u00e4r1-23'.normalize('NFD'), '8'],
    ['a password that is longer when it is normalized', '\ufdfa'.repeat(20), '255'],
  ])('the rules read the text that is hashed: %s is refused', async (_, password, text) => {
    const { body } = await t.http
      .post('/auth/register')
      .send({ name: 'x', email: 'new@example.com', ...both(password) });
    expect(body.errors?.password).toEqual([expect.stringContaining(text)]);
  });

  it('a password of 200 characters is accepted where a device enters it as 400', async () => {
    const email = await WAYS.registration!(t, mailbox, LONG.normalize('NFD'));
    for (const spelling of [LONG.normalize('NFD'), LONG]) await t.login(email, spelling).expect(200);
    await t.login(email, '\u00fc'.repeat(256).normalize('NFD')).expect(422);
  });

  it('an existing hash stays valid for what its user enters, and is replaced by one for every spelling', async () => {
    const former = await t.app.get(PasswordHasher).hash(MAC, []);
    expect(former).toMatch(/^\$argon2id\$/);
    await t.database.query('UPDATE members SET password_hash = $1 WHERE email = $2', [former, ADA]);
    await t.login(ADA, PHONE).expect(422);
    await t.login(ADA, MAC).expect(200);
    expect(await storedHash(t)).toMatch(/^NFKC:\$argon2id\$/);
    for (const spelling of [PHONE, MAC, FULL_WIDTH]) await t.login(ADA, spelling).expect(200);
  });
});

describe('without hashing.normalize', () => {
  const { t, mailbox } = membersForFile();

  beforeEach(() => member(t, ADA));

  it('a password is verified as it was entered', async () => {
    await WAYS.change!(t, mailbox, MAC);
    expect(await storedHash(t)).toMatch(/^\$argon2id\$/);
    await t.login(ADA, MAC).expect(200);
    await t.login(ADA, PHONE).expect(422);
  });

  it('a hash that was stored with it keeps accepting every spelling, also when its parameters change', async () => {
    const former = `NFKC:${await argon2.hash(PHONE, { type: argon2.argon2id, memoryCost: 128, timeCost: 2, parallelism: 1 })}`;
    await t.database.query('UPDATE members SET password_hash = $1 WHERE email = $2', [former, ADA]);
    for (const spelling of [MAC, FULL_WIDTH, PHONE]) await t.login(ADA, spelling).expect(200);
    expect(await storedHash(t)).toMatch(/^NFKC:\$argon2id\$v=19\$m=64,t=1,p=1\$/);
  });

  it('another value is refused at the start', async () => {
    const options = { hashing: { normalize: 'NFD' as never } };
    await expect(TestApp.start({ options })).rejects.toThrow('hashing.normalize is "NFD". Use none, NFC or NFKC.');
  });
});

describe('auth.passwords.check', () => {
  const check = new PwnedPasswords();
  const { t } = membersForFile({
    languages: ['en', 'de'],
    passwords: { minLength: 10, breached: { check, onOutage: 'refuse' } },
  });
  const checked = (...args: Parameters<Auth['passwords']['check']>): Promise<unknown> =>
    t.auth.passwords.check(...args).then(
      () => 'accepted',
      (error: unknown) =>
        error instanceof ValidationFailed ? (error.getResponse() as { message: string }).message : error,
    );

  it('applies the rules of the guard and the breach data to a password that the host sets', async () => {
    const breached = jest.spyOn(check, 'has').mockImplementation(async (password) => password === 'leaked-long-ago');
    const account = { identifier: 'ada.lovelace', email: 'countess@example.com' };
    expect(await checked(PASSWORD, account)).toBe('accepted');
    expect(await checked('Ada Lovelace', account)).toContain('name');
    expect(await checked('countess@example', account)).toBe('accepted');
    expect(await checked('countess@example.com', account)).toContain('name');
    expect(await checked('short-one')).toContain('10');
    expect(await checked('password123')).toContain('most common');
    expect(await checked('leaked-long-ago')).toContain('data breach');
    expect(await checked(undefined as never)).toContain('string');
    breached.mockRejectedValue(new Error('offline'));
    expect(await checked(PASSWORD)).toBeInstanceOf(StoreUnavailable);
  });

  it('answers in the language of a request', async () => {
    const request = { headers: { 'accept-language': 'de' } };
    expect(await checked('kurz', { request })).toContain('Zeichen');
  });
});
