import { KeyCreated, KeyRevoked } from '@svc/auth/access-keys';
import { TestApp } from '../support/hosts/app';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { KeyedOrders, createKey, keyOwner, postKey, serviceKey } from '../support/flows/access-keys';
import { confirmationTokenOf } from '../support/flows/step-up';

const NEW = 'another horse entirely';

describe('an access key', () => {
  let granted: string[];
  let refused: boolean;
  const t = TestApp.forFile({
    controllers: [KeyedOrders],
    options: {
      features: { accessKeys: true, abilities: true },
      accessKeys: { prefix: 'shop', maxPerUser: 3 },
      hooks: { abilities: () => granted, canSignIn: () => !refused },
    },
  });
  beforeEach(async () => {
    granted = ['orders.*'];
    refused = false;
    await t.person(ADA);
  });

  it('calls the routes that accept it, as its owner', async () => {
    const created = t.recorded(KeyCreated);
    const key = await createKey(t, await keyOwner(t), { abilities: ['orders.read'] });
    expect(key).toMatchObject({ label: 'cron', abilities: ['orders.read'], networks: null, last_used_at: null });
    expect(key.access_key).toMatch(/^shop_[0-9a-f]{32}_[0-9a-f]{72}$/);
    const { body } = await t.get('/orders', key.access_key).expect(200);
    expect(body).toEqual({ email: ADA, userId: '1', keyId: key.id, abilities: ['orders.read'] });
    await t.call('post', '/orders', key.access_key).expect(403);
    expect(created).toEqual([expect.objectContaining({ userId: '1', keyId: key.id, service: null })]);
  });

  it('is listed without its text, and revoked by its owner alone', async () => {
    const owner = await keyOwner(t);
    const { access_key: text, ...listed } = await createKey(t, owner);
    await t.person('grace@example.com');
    const other = await keyOwner(t, 'grace@example.com');
    const list = async ({ tokens } = owner) =>
      (await t.get('/auth/access-keys', tokens.access_token).expect(200)).body.data;
    expect(await list()).toEqual([listed]);
    expect(await list(other)).toEqual([]);
    await t.call('delete', `/auth/access-keys/${listed.id}`, other.tokens.access_token).expect(204);
    await t.get('/orders', text).expect(200);
    const revoked = t.recorded(KeyRevoked);
    await t.call('delete', `/auth/access-keys/${listed.id}`, owner.tokens.access_token).expect(204);
    await t.get('/orders', text).expect(401);
    expect(await list()).toEqual([]);
    expect(revoked).toEqual([expect.objectContaining({ userId: '1', keyId: listed.id, reason: 'revoked' })]);
    await t.call('delete', '/auth/access-keys/no-id', owner.tokens.access_token).expect(204);
  });

  it('of a service has no user', async () => {
    const key = await serviceKey(t, { abilities: ['orders.write'] });
    const { body } = await t.get('/orders', key.access_key).expect(200);
    expect(body).toEqual({ email: null, userId: '', keyId: key.id, service: 'ci', abilities: ['orders.write'] });
    await t.call('post', '/orders', key.access_key).expect(201);
    expect(await t.auth.accessKeys.listOf({ service: 'ci' })).toHaveLength(1);
    expect(await t.auth.accessKeys.revokeAny(key.id)).toBe(true);
    expect(await t.auth.accessKeys.revokeAny(key.id)).toBe(false);
    await t.get('/orders', key.access_key).expect(401);
  });

  it('can do what both its list and its owner can do now', async () => {
    const key = await createKey(t, await keyOwner(t), { abilities: ['orders.*'] });
    await t.call('post', '/orders', key.access_key).expect(201);
    granted = ['orders.read'];
    await t.call('post', '/orders', key.access_key).expect(403);
    expect((await t.get('/orders', key.access_key).expect(200)).body.abilities).toEqual(['orders.read']);
    granted = ['*'];
    await t.call('post', '/orders', key.access_key).expect(201);
  });

  it('is not accepted while its owner may not sign in', async () => {
    const key = await createKey(t, await keyOwner(t));
    refused = true;
    await t.get('/orders', key.access_key).expect(401);
    refused = false;
    await t.get('/orders', key.access_key).expect(200);
  });

  it('needs a confirmation, and not more than its creator has', async () => {
    const owner = await keyOwner(t);
    await t.call('post', '/auth/access-keys', owner.tokens.access_token).send({ label: 'cron' }).expect(423);
    const errorsOf = async (body: object) => (await postKey(t, owner, body).expect(422)).body.errors;
    expect(await errorsOf({ abilities: ['users.read'] })).toEqual({
      abilities: ['An access key cannot do more than you can.'],
    });
    expect(Object.keys(await errorsOf({ abilities: ['a b'] }))).toEqual(['abilities']);
    expect(Object.keys(await errorsOf({ abilities: [7] }))).toEqual(['abilities']);
    expect(Object.keys(await errorsOf({ abilities: 'orders.read' }))).toEqual(['abilities']);
    expect(Object.keys(await errorsOf({ label: '' }))).toEqual(['label']);
    expect(Object.keys(await errorsOf({ label: 'x'.repeat(101) }))).toEqual(['label']);
    for (const days of [0, -1, 366, 1.5, '30', '', ' ', null, true]) {
      const answer = await postKey(t, owner, { expires_in_days: days });
      expect([days, answer.status]).toEqual([days, days === null ? 200 : 422]);
    }
    for (const networks of [['here'], '', ' ']) expect(Object.keys(await errorsOf({ networks }))).toEqual(['networks']);
    expect(Object.keys(await errorsOf({ networks: ['10.0.0.0/33'] }))).toEqual(['networks']);
  });

  it('is one of a limited number', async () => {
    const owner = await keyOwner(t);
    const keys = [await createKey(t, owner), await createKey(t, owner), await createKey(t, owner)];
    await postKey(t, owner).expect(409);
    await t.call('delete', `/auth/access-keys/${keys[0]!.id}`, owner.tokens.access_token).expect(204);
    const answers = await Promise.all([1, 2, 3, 4].map(() => postKey(t, owner)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  });

  it('expires', async () => {
    t.clock.stop();
    const key = await createKey(t, await keyOwner(t), { expires_in_days: 2 });
    t.clock.advance(2 * 86_400 - 5);
    await t.get('/orders', key.access_key).expect(200);
    t.clock.advance(6);
    await t.get('/orders', key.access_key).expect(401);
  });

  it('is accepted from its networks only', async () => {
    const owner = await keyOwner(t);
    const here = await createKey(t, owner, { networks: ['127.0.0.0/8', '2001:db8::1'] });
    expect(here.networks).toEqual(['127.0.0.0/8', '2001:db8::1/128']);
    await t.get('/orders', here.access_key).expect(200);
    const there = await createKey(t, owner, { networks: ['192.0.2.0/24'] });
    await t.get('/orders', there.access_key).expect(401);
  });

  describe('ends', () => {
    const ends: Record<string, (owner: Awaited<ReturnType<typeof keyOwner>>) => Promise<unknown>> = {
      'DELETE /sessions': ({ tokens }) => t.call('delete', '/auth/sessions', tokens.access_token).expect(204),
      'auth.revokeEverything': () => t.auth.revokeEverything(),
      'a change of the password that asks for it': ({ tokens }) =>
        t
          .call('post', '/auth/password', tokens.access_token)
          .send({ current_password: PASSWORD, password: NEW, password_confirmation: NEW, end_access_keys: true })
          .expect(200),
    };
    it.each(Object.keys(ends))('with %s', async (end) => {
      const owner = await keyOwner(t);
      const key = await createKey(t, owner);
      await t.get('/orders', key.access_key).expect(200);
      await ends[end]!(owner);
      await t.get('/orders', key.access_key).expect(401);
    });
  });
});

describe('the creations of access keys', () => {
  const t = TestApp.forFile({
    controllers: [KeyedOrders],
    options: { features: { accessKeys: true }, rateLimits: { confirm: { maxAttempts: 5 } } },
  });

  it('are limited to ten a minute, and take no confirmation from the person', async () => {
    await t.person(ADA);
    const owner = await keyOwner(t);
    for (let i = 0; i < 10; i++) await postKey(t, owner).expect(200);
    await postKey(t, owner).expect(429);
    for (let i = 0; i < 4; i++) await confirmationTokenOf(t, owner.tokens.access_token);
  });
});
