import { SessionEnded } from '@svc/auth';
import { OPERATOR_ABILITIES } from '@svc/auth/operators';
import {
  OperatedOrders,
  type SignedInOperator,
  act,
  granted,
  operatorOptions,
  operatorSession,
  resetGranted,
} from '../support/flows/operators';
import { CONFIRMATION_HEADER, confirmPassword, confirmationTokenOf } from '../support/flows/step-up';
import { claimsOf } from '../support/hosts/app';
import { HostController } from '../support/hosts/host.module';
import { member, membersForFile } from '../support/hosts/members';
import { ADA } from '../support/hosts/user-entities';
import { routesOf } from '../support/views/routes';

describe('an operator who acts as a user', () => {
  const { t } = membersForFile(
    operatorOptions({ features: { twoFactor: true, accessKeys: true, emailChange: true } }),
    {
      controllers: [HostController, OperatedOrders],
    },
  );
  let user: string;
  let operator: SignedInOperator;

  beforeEach(async () => {
    resetGranted();
    user = await member(t, ADA, { emailVerifiedAt: new Date(0) });
    await t.person('root@example.com', 'admin');
    operator = await operatorSession(t);
  });

  const start = async (body: object = { abilities: ['orders.read'] }) =>
    (await act(t, operator, user, 'act', body).expect(200)).body as { access_token: string; expires_in: number };

  it('is in the claim act, has a short token without a refresh token, and only the abilities that were asked for', async () => {
    const body = await start({ abilities: ['orders.read'], seconds: 120 });
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'token_type']);
    expect(body.expires_in).toBe(120);
    const claims = claimsOf(body.access_token);
    expect(claims).toMatchObject({ sub: user, act: { sub: '1', guard: 'admin' }, scope: 'orders.read', pin: true });
    expect(claims).not.toHaveProperty('amr');
    const { body: seen } = await t.get('/orders', body.access_token).expect(200);
    expect(seen).toEqual({ of: user, by: { userId: '1', guard: 'admin' } });
    t.clock.advance(126);
    await t.get('/orders', body.access_token).expect(401);
  });

  it('gets no ability that the host does not offer or the user does not have', async () => {
    for (const abilities of [
      ['*'],
      ['orders.*'],
      ['profile'],
      ['svc.account'],
      ['orders.delete'],
      [''],
      [7],
      ['orders.read', 'profile'],
    ])
      await act(t, operator, user, 'act', { abilities }).expect(422);
    granted.api = ['orders.read'];
    await act(t, operator, user, 'act', { abilities: ['orders.write'] }).expect(422);
    await start({ abilities: ['orders.read'] });
    granted.api = [];
    await act(t, operator, user, 'act', { abilities: ['orders.read'] }).expect(422);
    const { access_token: token } = await start({});
    await t.get('/orders', token).expect(403);
    await t.get('/private', token).expect(200);
  });

  it('gets a time of at most accessTtl', async () => {
    for (const seconds of [0, -1, 901, 1.5, '60', 1e99]) await act(t, operator, user, 'act', { seconds }).expect(422);
    // The session of the operator is over in a minute.
    await t.database.query(`UPDATE svc_sessions SET expires_at = now() + interval '60 seconds' WHERE guard = 'admin'`);
    expect((await start({ seconds: 1 })).expires_in).toBe(1);
    const { expires_in: left } = await start({ seconds: 900 });
    expect([left > 0, left <= 60]).toEqual([true, true]);
    await t.database.query(`UPDATE svc_sessions SET expires_at = now() + interval '1 day' WHERE guard = 'admin'`);
    expect((await start({})).expires_in).toBe(900);
  });

  it('cannot step up, and is refused by @RefuseActor()', async () => {
    const { access_token: token } = await start();
    await t.call('delete', '/orders', token).expect(423);
    await confirmPassword(t, token).expect(403);
    const own = await confirmationTokenOf(t, (await t.session()).access_token).catch(() => operator.proof);
    await t.call('delete', '/orders', token).set(CONFIRMATION_HEADER, own).expect(423);
    expect((await t.call('post', '/orders', token).expect(403)).body.reason).toBe('actor_refused');
    const { access_token: ofUser } = await t.session();
    expect((await t.call('post', '/orders', ofUser).expect(201)).body).toEqual({ by: null });
  });

  it('is refused by every route of the library, but the key set and another mail to the owner', async () => {
    const { access_token: token } = await start();
    const answered: string[] = [];
    for (const route of routesOf(t).filter(
      (one) => /^(GET|POST|PUT|PATCH|DELETE) \/auth\//.test(one) && !one.endsWith('/logout'),
    )) {
      const [method = '', path = ''] = route.split(' ');
      const url = path.replaceAll(/:\w+/g, '0b3c7c1e-6f0e-4a58-9c8e-000000000000');
      const send = t.http[method.toLowerCase() as 'get'](url).set('Authorization', `Bearer ${token}`);
      const { status } = await send.send(method === 'GET' ? undefined : {});
      if (status < 300) answered.push(route);
    }
    expect(answered.toSorted()).toEqual(['GET /auth/jwks', 'POST /auth/email/verification-notification']);
  });

  it('is in the list of the user, who ends it', async () => {
    const { access_token: ofUser } = await t.session();
    const { access_token: token } = await start();
    granted.api = ['orders.*', 'svc.account'];
    const { body } = await t.get('/auth/sessions', ofUser).expect(200);
    const { fid } = claimsOf(token);
    expect(body.data.map(({ id, actor }: Record<string, string>) => [id, actor]).toSorted()).toEqual(
      [
        [fid, 'operator'],
        [claimsOf(ofUser).fid, 'user'],
      ].toSorted(),
    );
    expect(body.data).toContainEqual(expect.objectContaining({ id: fid, label: 'Customer support' }));
    await t.call('delete', `/auth/sessions/${String(fid)}`, ofUser).expect(204);
    await t.get('/orders', token).expect(401);
    await t.get('/private', ofUser).expect(200);
  });

  it('ends with the session of the operator, also one that has just ended', async () => {
    const { access_token: token } = await start();
    const other = await operatorSession(t);
    const { body: kept } = await act(t, other, user, 'act', { abilities: ['orders.read'] }).expect(200);
    const ended = t.recorded(SessionEnded);
    await t.call('post', '/admin/auth/logout', operator.token).expect(204);
    await t.calm();
    await t.get('/orders', token).expect(401);
    await t.get('/orders', kept.access_token).expect(200);
    expect(ended).toMatchObject([{ guard: 'admin' }, { guard: 'api', userId: user }]);
    await act(t, operator, user, 'act').expect(401);
  });

  it('is possible by a server call, with the checks of the route', async () => {
    const { operators } = t.auth.guard('admin');
    const headers = { authorization: `Bearer ${operator.token}` };
    await expect(operators.actAs(user, { reason: 'x' }, { headers })).rejects.toMatchObject({ status: 423 });
    const source = { headers, confirmationToken: operator.proof };
    const { access_token: token } = await operators.actAs(user, { reason: 'x', abilities: ['orders.read'] }, source);
    await t.get('/orders', token).expect(200);
    await expect(operators.actAs(user, { reason: '' }, source)).rejects.toMatchObject({ status: 422 });
    granted.admin = [OPERATOR_ABILITIES.read];
    const { token: reader } = await operatorSession(t);
    const readOnly = { headers: { authorization: `Bearer ${reader}` } };
    expect(await operators.find(ADA, readOnly)).toMatchObject([{ id: user }]);
    expect((await operators.show(user, readOnly)).user.id).toBe(user);
    await expect(operators.suspend(user, { reason: 'x' }, readOnly)).rejects.toMatchObject({ status: 403 });
  });
});

describe('an operator who acts as a user where the routes of the library ask for no ability', () => {
  const { t } = membersForFile(operatorOptions({ features: { gateAuthRoutes: false, audit: true } }));

  it('cannot read or change the account', async () => {
    resetGranted();
    const user = await member(t, ADA);
    await t.person('root@example.com', 'admin');
    const { body } = await act(t, await operatorSession(t), user, 'act').expect(200);
    await t.get('/private', body.access_token).expect(200);
    await confirmPassword(t, body.access_token).expect(403);
    await t.call('delete', '/auth/sessions', body.access_token).expect(403);
    for (const path of ['sessions', 'history']) await t.get(`/auth/${path}`, body.access_token).expect(403);
    const { access_token: ofUser } = await t.session();
    await t.get('/auth/sessions', ofUser).expect(200);
  });
});
