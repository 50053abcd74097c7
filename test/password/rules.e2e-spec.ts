import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestApp } from '../support/app';
import { linkIn, member, type Mailbox, startMembers } from '../support/members';
import { PASSWORD } from '../support/people';

const ADA = 'ada@example.com';
const listed = (name: string): string[] =>
  readFileSync(join(__dirname, '../vectors/passwords', name), 'utf8')
    .split('\n')
    .filter(Boolean);
const COMMON = listed('top3000_min8.txt');

type Choose = (password: string) => Promise<{ status: number; body: { errors?: Record<string, string[]> } }>;

describe('a new password', () => {
  let t: TestApp;
  let mailbox: Mailbox;
  const ways: Record<string, Choose> = {};
  let n = 0;

  beforeAll(async () => {
    ({ t, mailbox } = await startMembers({ passwords: { blockList: ['Acme Orders'] }, appName: 'Acme Order Book' }));
    await member(t, ADA);
    const { access_token: token } = await t.session();
    await t.http.post('/auth/forgot-password').send({ email: ADA });
    const reset = linkIn(await mailbox.nth(1)).searchParams.get('token');
    const both = (password: string) => ({ password, password_confirmation: password });
    ways.registration = (password) =>
      t.http.post('/auth/register').send({ name: 'x', email: `new${n++}@example.com`, ...both(password) });
    ways.reset = (password) =>
      t.http.post('/auth/reset-password').send({ token: reset, email: ADA, ...both(password) });
    ways.change = (password) =>
      t.call('post', '/auth/password', token).send({ current_password: PASSWORD, ...both(password) });
  });
  afterAll(() => t.stop());

  it('has a list of 3000 to be measured by', () => {
    expect(COMMON).toHaveLength(3000);
  });

  it.each(['registration', 'reset', 'change'])(
    'is none of the 3000 most common ones at %s',
    async (way) => {
      const accepted: string[] = [];
      for (let from = 0; from < COMMON.length; from += 50) {
        const page = COMMON.slice(from, from + 50);
        const answers = await Promise.all(page.map((password) => ways[way]!(password)));
        accepted.push(...page.filter((_, i) => !answers[i]!.body.errors?.password?.[0]?.includes('most common')));
      }
      expect(accepted).toEqual([]);
    },
    120_000,
  );

  it('is none of the common long ones, in any case, forwards or backwards, nor of the host`s own list', async () => {
    const words = listed('top_min15.txt');
    const backwards = words.map((word) => [...word].toReversed().join(''));
    for (const word of [...words, ...words.map((one) => one.toUpperCase()), ...backwards, 'ACME orders']) {
      expect((await ways.registration!(word)).status).toBe(422);
    }
  });

  it.each(['AcmeOrderBook', 'acme order book', 'Acme.Order.Book!'])(
    'is not what the application is called: %s',
    async (password) => {
      const { status, body } = await ways.registration!(password);
      expect(status).toBe(422);
      expect(body.errors).toEqual({ password: [expect.stringMatching(/your own name or email/)] });
    },
  );

  it.each([
    ['64 characters', 'a passphrase of sixty-four characters is welcome here, of course'],
    ['255 characters', 'x'.repeat(254) + 'y'],
    ['emoji', '🐎🔋📎✏️🐎🔋📎'],
    ['lower case alone', 'correct horse battery staple'],
    ['digits of no list', '48151623424815162342'],
    ['spaces at its ends', '  surrounded  '],
    ['other scripts', 'правильная лошадь'],
  ])('may be %s, and is taken to the letter', async (_, password) => {
    const email = `new${n}@example.com`;
    expect((await ways.registration!(password)).status).toBe(200);
    await t.login(email, password).expect(200);
    await t.login(email, `${password} `).expect(422);
    await t.login(email, password.slice(1)).expect(422);
  });

  it('counts beyond the 72nd byte', async () => {
    const email = `new${n}@example.com`;
    const head = 'a long sentence without end, '.repeat(3).slice(0, 72);
    expect((await ways.registration!(`${head}x`)).status).toBe(200);
    await t.login(email, head).expect(422);
    await t.login(email, `${head}y`).expect(422);
    await t.login(email, `${head}x`).expect(200);
  });

  it('is as long as the host wants it', async () => {
    const strict = await startMembers({ passwords: { minLength: 15 } });
    const register = (password: string) =>
      strict.t.http.post('/auth/register').send({ name: 'x', email: ADA, password, password_confirmation: password });
    const { body } = await register('fourteen chars').expect(422);
    expect(body.message).toBe('The password must have at least 15 characters.');
    await register('fifteen chars!!').expect(200);
    await strict.t.stop();
  });
});
