import { Controller, Delete, Get, HttpCode, Logger } from '@nestjs/common';
import { Abilities, type Caller, CurrentCaller, RequireConfirmation } from '@svc/auth';
import { modulesOf } from '../docs/page-modules';
import { type TestApp, claimsOf } from '../support/app';
import { ADA, HEADER, confirm, proofOf, startConfirming } from '../support/confirming';
import { PASSWORD } from '../support/people';

@Controller('orders')
class Orders {
  @Get()
  @Abilities('orders.read')
  list(@CurrentCaller() { userId, claims }: Caller) {
    return { of: userId, by: claims.act };
  }

  @Delete()
  @HttpCode(204)
  @RequireConfirmation()
  empty() {}
}

describe('impersonation, as its recipe says', () => {
  let t: TestApp;
  let operator: string;
  let written: unknown[];

  beforeAll(async () => {
    const { ImpersonationController } = modulesOf('docs/recipes/impersonation.md')['src/impersonation.controller.ts'];
    t = await startConfirming({ hooks: { abilities: () => ['*'] } }, [ImpersonationController, Orders]);
    operator = (await t.session('root@example.com', 'admin')).access_token;
  });
  afterAll(() => t.stop());
  beforeEach(() => {
    written = [];
    jest.spyOn(Logger.prototype, 'log').mockImplementation((line: unknown) => void written.push(line));
  });

  const start = async (user: string, body: object = { reason: 'ticket 7' }) =>
    t
      .call('post', `/admin/impersonations/${user}`, operator)
      .set(HEADER, await proofOf(t, operator, 'admin'))
      .send(body);

  it('needs the step-up of an operator and a reason, and is written down before it begins', async () => {
    await t.call('post', '/admin/impersonations/1', operator).send({ reason: 'ticket 7' }).expect(423);
    const { access_token: user } = await t.session(ADA);
    await t.call('post', '/admin/impersonations/1', user).send({ reason: 'ticket 7' }).expect(401);
    expect((await start('1', { reason: ' ' })).status).toBe(400);
    expect(written).not.toContainEqual(expect.objectContaining({ event: 'impersonation.started' }));

    expect((await start('1')).status).toBe(200);
    const line = { event: 'impersonation.started', operator: '1', user: '1', reason: 'ticket 7' };
    expect(written).toContainEqual(line);
    expect((await start('999')).status).toBe(404);
    expect((await start('nobody')).status).toBe(404);
  });

  it('says on every request who acts, and leaves nothing that could outlive its mark', async () => {
    const { body } = await start('2');
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in']);
    expect(claimsOf(body.access_token)).toMatchObject({ sub: '2', act: { sub: '1', guard: 'admin' }, pin: true });
    const { body: seen } = await t.get('/orders', body.access_token).expect(200);
    expect(seen).toEqual({ of: '2', by: { sub: '1', guard: 'admin' } });
    await t.refresh(body.access_token).expect(401);
  });

  it('cannot step up, although it may be told the password, nor touch the account', async () => {
    const { body } = await start('2');
    const token = body.access_token;
    await t.call('delete', '/orders', token).expect(423);
    await confirm(t, token).expect(403);
    const own = await proofOf(t, (await t.session('bob@example.com')).access_token);
    await t.call('delete', '/orders', token).set(HEADER, own).expect(423);
    const change = {
      current_password: PASSWORD,
      password: 'another horse here',
      password_confirmation: 'another horse here',
    };
    await t.call('post', '/auth/password', token).send(change).expect(403);
    await t.call('delete', '/auth/account', token).set(HEADER, own).expect(403);
    await t.get('/auth/sessions', token).expect(403);
  });

  it('is seen by its user, who can end it, and its own token can, while the user`s sessions go on', async () => {
    const { access_token: user } = await t.session(ADA);
    const [first, second] = [(await start('1')).body.access_token, (await start('1')).body.access_token];
    await t.call('post', '/auth/logout', first).expect(204);
    await t.get('/orders', first).expect(401);
    const { body } = await t.get('/auth/sessions', user).expect(200);
    const found = body.data.find(({ id }: { id: string }) => id === claimsOf(second).fid);
    expect(found).toMatchObject({ label: 'Customer support' });
    await t.call('delete', `/auth/sessions/${found.id}`, user).expect(204);
    await t.get('/orders', second).expect(401);
    await t.get('/orders', user).expect(200);
  });
});
