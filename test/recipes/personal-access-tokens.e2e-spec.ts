import { Controller, Get, Post } from '@nestjs/common';
import { Abilities } from '@svc/auth';
import { modulesOf } from '../docs/page-modules';
import type { TestApp, Tokens } from '../support/app';
import { ADA, HEADER, confirm, proofOf, startConfirming } from '../support/confirming';
import { PASSWORD } from '../support/people';

@Controller('orders')
class Orders {
  @Get()
  @Abilities('orders.read')
  list() {
    return {};
  }

  @Post()
  @Abilities('orders.write')
  place() {
    return {};
  }
}

describe('personal access tokens, as their recipe says', () => {
  let t: TestApp;
  let user: Tokens;
  let abilities: string[] = [];

  beforeAll(async () => {
    const { TokensController } = modulesOf('docs/recipes/personal-access-tokens.md')['src/tokens.controller.ts'];
    t = await startConfirming({ hooks: { abilities: () => abilities } }, [TokensController, Orders]);
  });
  beforeEach(async () => {
    abilities = ['orders.*'];
    user = await t.session(ADA);
  });
  afterAll(() => t.stop());

  const issue = async (body: object, { access_token: token } = user) =>
    t
      .call('post', '/tokens', token)
      .set(HEADER, await proofOf(t, token))
      .send(body);

  const machine = async (): Promise<Tokens> => (await issue({ label: 'CI', abilities: ['orders.read'] })).body;

  it('are issued under step-up, with a name and abilities that their issuer has', async () => {
    await t
      .call('post', '/tokens', user.access_token)
      .send({ label: 'CI', abilities: ['orders.read'] })
      .expect(423);
    for (const body of [
      {},
      { label: 'CI' },
      { label: '', abilities: ['orders.read'] },
      { label: 'CI', abilities: '*' },
    ])
      expect((await issue(body)).status).toBe(400);
    expect((await issue({ label: 'CI', abilities: ['*', 'svc.account'] })).status).toBe(400);
    abilities = ['orders.read'];
    const reader = await t.session(ADA);
    expect((await issue({ label: 'CI', abilities: ['orders.write'] }, reader)).status).toBe(403);
  });

  it('stay what they are through every refresh, whatever their user may do later', async () => {
    let tokens = await machine();
    abilities = ['*'];
    for (let round = 0; round < 3; round++) {
      await t.get('/orders', tokens.access_token).expect(200);
      await t.call('post', '/orders', tokens.access_token).expect(403);
      tokens = (await t.refresh(tokens.refresh_token).expect(200)).body;
    }
  });

  it('are no way to the account, nor to further tokens', async () => {
    const { access_token: token } = await machine();
    await confirm(t, token).expect(403);
    await t
      .call('post', '/tokens', token)
      .send({ label: 'CI', abilities: ['orders.read'] })
      .expect(423);
    await t.get('/auth/sessions', token).expect(403);
    await t.call('delete', '/auth/sessions/others', token).expect(403);
    const change = {
      current_password: PASSWORD,
      password: 'another horse here',
      password_confirmation: 'another horse here',
    };
    await t.call('post', '/auth/password', token).send(change).expect(403);
  });

  it('are listed by their name, and end at once: by their user, or by themselves', async () => {
    const [first, second] = [await machine(), await machine()];
    await t.call('post', '/auth/logout', first.access_token).expect(204);
    const { body } = await t.get('/auth/sessions', user.access_token).expect(200);
    const labelled = body.data.filter(({ label }: { label: string }) => label === 'CI');
    for (const { id } of labelled) await t.call('delete', `/auth/sessions/${id}`, user.access_token).expect(204);
    for (const { access_token: access, refresh_token: refresh } of [first, second]) {
      await t.get('/orders', access).expect(401);
      await t.refresh(refresh).expect(401);
    }
  });
});
