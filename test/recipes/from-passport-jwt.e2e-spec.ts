import { modulesOf } from '../docs/page-modules';
import jwt from 'jsonwebtoken';
import { TestApp } from '../support/app';
import { SECRET } from '../support/host.module';

const FORMER = 'the-secret-of-the-former-application';

describe('a host that moves away from passport-jwt, as its recipe says', () => {
  let t: TestApp;

  beforeAll(async () => {
    process.env.FORMER_SECRET = FORMER;
    const modules = modulesOf('docs/recipes/from-passport-jwt.md');
    const { FormerStrategy } = modules['src/former.strategy.ts'];
    const { OrdersController } = modules['src/orders.controller.ts'];
    t = await TestApp.start({
      controllers: [OrdersController],
      imports: [{ module: class Former {}, providers: [FormerStrategy] }],
    });
    await t.person('ada@example.com');
  });
  afterAll(async () => {
    delete process.env.FORMER_SECRET;
    await t.stop();
  });

  const former = (secret = FORMER): string => jwt.sign({ sub: '7' }, secret, { expiresIn: 60 });

  it('takes tokens of both, each by its own rules', async () => {
    const { access_token: token } = await t.session();
    expect((await t.get('/orders', token).expect(200)).body).toEqual({ of: 1 });
    expect((await t.get('/orders', former()).expect(200)).body).toEqual({ of: '7' });
    await t.get('/orders', former('x'.repeat(36))).expect(401);
    await t.get('/orders').expect(401);
  });

  it('lets no token of the library in by the former strategy, nor the other way round', async () => {
    const { access_token: token } = await t.session();
    await t.call('post', '/auth/logout', token).expect(204);
    await t.get('/orders', token).expect(401);
    await t.get('/orders', former(SECRET)).expect(401);
    await t.get('/auth/sessions', former()).expect(401);
  });
});
