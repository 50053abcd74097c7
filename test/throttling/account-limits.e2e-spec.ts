import { randomUUID } from 'node:crypto';
import type { TestApp } from '../support/app';
import { someone } from '../support/clients';
import { member, startMembers } from '../support/members';
import { PASSWORD } from '../support/people';

const ADA = 'ada@example.com';

describe('the limits of an account`s life', () => {
  let t: TestApp;

  beforeAll(async () => {
    ({ t } = await startMembers({ keyPrefix: `${randomUUID()}:`, rateLimits: {} }, { behindProxy: true }));
    await member(t, ADA);
  });
  afterAll(() => t.stop());

  const post = (path: string, client: string, body: object = {}) =>
    t.http.post(`/auth/${path}`).set('X-Forwarded-For', client).send(body);

  it('count registrations by client alone: nobody can keep an address from registering', async () => {
    const client = someone();
    const form = { name: 'x', password: PASSWORD, password_confirmation: PASSWORD };
    for (let i = 0; i < 10; i++) await post('register', client, { ...form, email: 'wanted' }).expect(422);
    const { headers, body } = await post('register', client, { ...form, email: 'wanted@example.com' }).expect(429);
    expect(headers['x-ratelimit-limit']).toBe('10');
    expect(body).toEqual({ message: expect.stringMatching(/Too many attempts/) });
    await post('register', someone(), { ...form, email: 'wanted@example.com' }).expect(200);
  });

  it('count forgotten and reset passwords together, by client alone', async () => {
    const client = someone();
    for (let i = 0; i < 3; i++) await post('forgot-password', client, { email: ADA }).expect(200);
    for (let i = 0; i < 3; i++) await post('reset-password', client).expect(422);
    await post('forgot-password', client, { email: ADA }).expect(429);
    await post('reset-password', client).expect(429);
    await post('forgot-password', someone(), { email: ADA }).expect(200);
  });

  it('count requests to verify by client, and by user from anywhere', async () => {
    const { accessToken } = await t.auth.startSession((await t.database.query('SELECT id FROM members'))[0].id);
    const resend = (client: string) =>
      post('email/verification-notification', client).set('Authorization', `Bearer ${accessToken}`);
    for (let i = 0; i < 6; i++) await resend(someone()).expect(202);
    await resend(someone()).expect(429);
    const client = someone();
    const open = () => t.http.get('/auth/email/verify/x/y').set('X-Forwarded-For', client);
    for (let i = 0; i < 6; i++) await open().expect(403);
    await open().expect(429);
  });
});
