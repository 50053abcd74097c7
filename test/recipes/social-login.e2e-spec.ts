import { Body, Controller, Inject, Post, type Type } from '@nestjs/common';
import { blocksOf } from '../docs/blocks';
import { modulesOf } from '../docs/page-modules';
import { TestApp, claimsOf } from '../support/app';
import { member } from '../support/members';
import { Member } from '../support/people';

const PAGE = 'docs/recipes/social-login.md';
const modules = modulesOf(PAGE, { './users.js': { User: Member } });
const SocialLogin: Type<{ signIn(profile: object): Promise<object> }> = modules['src/social-login.ts'].SocialLogin;
const { Identity } = modules['src/identity.ts'];

/** Stands in for the callback of a provider: what it is sent counts as verified. */
@Controller('callback')
class Callback {
  constructor(@Inject(SocialLogin) private readonly login: { signIn(profile: object): Promise<object> }) {}

  @Post()
  signIn(@Body() profile: object) {
    return this.login.signIn(profile);
  }
}

describe('social login, as its recipe says', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start({
      options: { users: { entity: Member } },
      controllers: [Callback],
      entities: [Identity],
      imports: [{ module: class Social {}, providers: [SocialLogin], exports: [SocialLogin], global: true }],
    });
    await t.database.query(blocksOf(PAGE).find(({ language }) => language === 'sql')!.text);
  });
  afterAll(() => t.stop());

  const ada = { provider: 'example', subject: '1', email: 'Ada@example.com', emailVerified: true, name: 'Ada' };
  const signIn = (profile: object) => t.http.post('/callback').send(profile);
  const userIn = async (profile: object): Promise<unknown> =>
    claimsOf((await signIn(profile).expect(201)).body.accessToken).sub;

  it('is one account for a subject, whatever becomes of its address, and however many come at once', async () => {
    const sent = await Promise.all(Array.from({ length: 8 }, () => userIn(ada)));
    expect(new Set(sent).size).toBe(1);
    expect(await userIn({ ...ada, email: 'lovelace@example.com', emailVerified: false })).toBe(sent[0]);
    expect(await t.database.getRepository(Member).countBy({ email: 'ada@example.com' })).toBe(1);
    // Without a password there is none to guess.
    await t.login('ada@example.com', '').expect(422);
  });

  it('takes over no account that has the address, and tells another provider`s subject apart', async () => {
    const squatter = await member(t, 'bob@example.com');
    await signIn({ ...ada, subject: '2', email: 'bob@example.com' }).expect(409);
    await signIn({ ...ada, provider: 'other' }).expect(409);
    const { n } = (
      await t.database.query('SELECT count(*)::int AS n FROM svc_sessions WHERE user_id = $1', [squatter])
    )[0];
    expect(n).toBe(0);
  });

  it('creates no account for an address that the provider does not vouch for', async () => {
    await signIn({ ...ada, subject: '3', email: 'eve@example.com', emailVerified: false }).expect(403);
    expect(await t.database.getRepository(Member).countBy({ email: 'eve@example.com' })).toBe(0);
  });

  it('starts a session like any other, named after the provider', async () => {
    const { body } = await signIn(ada).expect(201);
    const { body: listed } = await t.get('/auth/sessions', body.accessToken).expect(200);
    expect(listed.data[0]).toMatchObject({ label: 'example', current: true });
    await t.refresh(body.refreshToken).expect(200);
  });
});
