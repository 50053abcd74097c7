import { Injectable, Module } from '@nestjs/common';
import { type LoginChallenge, type PresentedRequest, Presenter, type RegisteredBody, type TokenBody } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { TestApp } from '../support/hosts/app';
import { Mailbox, linkIn, memberOptions } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { codeOf, enrol } from '../support/flows/two-factor';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

@Injectable()
class Greeting {
  readonly text = 'welcome';
}

@Module({ providers: [Greeting], exports: [Greeting] })
class GreetingModule {}

@Injectable()
class HostPresenter extends Presenter {
  constructor(private readonly greeting: Greeting) {
    super();
  }

  override async login(fields: TokenBody, { user, userId, guard }: PresentedRequest): Promise<object> {
    const profile = (await user()) as { email?: string } | null;
    return { greeting: this.greeting.text, guard, userId, email: profile?.email, tokens: fields };
  }

  override refresh({ access_token: token }: TokenBody): object {
    return { token };
  }

  override challenge(fields: LoginChallenge, { userId }: PresentedRequest): object {
    return { next: 'second-factor', userId, ...fields };
  }

  override registration(fields: TokenBody | RegisteredBody): object {
    return { account: 'created', ...fields };
  }

  override logout({ userId }: PresentedRequest): object {
    return { goodbye: userId };
  }

  override async verification({ user }: PresentedRequest): Promise<object> {
    return { verified: ((await user()) as { email: string }).email };
  }
}

describe('a presenter of the host', () => {
  const mailbox = new Mailbox();
  const t = TestApp.forFile(() => ({
    options: memberOptions(mailbox, {
      presenter: HostPresenter,
      imports: [GreetingModule],
      features: { twoFactor: true, passkeys: true, passkeyRegistration: true },
      passkeys: PASSKEYS.passkeys,
    }),
  }));
  beforeEach(() => mailbox.clear());

  const register = () =>
    t.http
      .post('/auth/register')
      .send({ name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD })
      .expect(200);

  it('reshapes the answers of a registration, a login, a refresh and a logout', async () => {
    const { body: registered } = await register();
    expect(registered).toMatchObject({ account: 'created', access_token: expect.any(String) });
    const { body, headers } = await t.login(ADA).expect(200);
    expect(body).toEqual({
      greeting: 'welcome',
      guard: 'api',
      userId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: ADA,
      tokens: expect.objectContaining({ refresh_token: expect.any(String), token_type: 'Bearer' }),
    });
    expect(headers['cache-control']).toBe('no-store, private');
    const { body: refreshed } = await t.refresh(body.tokens.refresh_token).expect(200);
    expect(Object.keys(refreshed)).toEqual(['token']);
    const { body: goodbye } = await t.call('post', '/auth/logout', refreshed.token).expect(200);
    expect(goodbye).toEqual({ goodbye: body.userId });
    await t.get('/private', refreshed.token).expect(401);
  });

  it('reshapes the answer to a registration with a passkey as that to any registration', async () => {
    const fields = { name: 'Grace', email: 'grace@example.com' };
    const { ceremony_id, options } = (await t.http.post('/auth/register/passkey/options').send(fields).expect(200))
      .body;
    const credential = new SoftAuthenticator(ORIGIN).create(options);
    const answer = t.http.post('/auth/register/passkey').send({ ...fields, ceremony_id, credential });
    expect((await answer.expect(200)).body).toMatchObject({ account: 'created', access_token: expect.any(String) });
  });

  it('reshapes a challenge and the tokens that complete it', async () => {
    await register();
    const { body: first } = await t.login(ADA);
    jest.spyOn(t, 'session').mockResolvedValueOnce(first.tokens);
    const { secret } = await enrol(t);
    const { body } = await t.login(ADA).expect(200);
    expect(body).toMatchObject({ next: 'second-factor', userId: first.userId, two_factor: true });
    const answer = { challenge_token: body.challenge_token, code: codeOf(t, secret) };
    const completed = await t.http.post('/auth/two-factor-challenge').send(answer).expect(200);
    expect(completed.body).toMatchObject({ greeting: 'welcome', email: ADA });
  });

  it('reshapes the answer to an opened verification link', async () => {
    await register();
    const link = new URL(linkIn(await mailbox.nth(1)));
    const { body } = await t.http.get(link.pathname + link.search).expect(200);
    expect(body).toEqual({ verified: ADA });
  });

  it('does not reshape errors and other answers', async () => {
    const { body } = await t.login(ADA, 'wrong').expect(422);
    expect(Object.keys(body)).toEqual(['message', 'errors']);
    const { body: session } = await register();
    const sessions = await t.get('/auth/sessions', session.access_token).expect(200);
    expect(Object.keys(sessions.body)).toEqual(['data']);
  });

  it('reshapes the tokens of a sign-in with a passkey, and belongs to extra guards, too', async () => {
    await register();
    const passkeys = new PasskeyApp(t);
    const { body: first } = await t.login(ADA);
    jest.spyOn(t, 'session').mockResolvedValueOnce(first.tokens);
    const authenticator = new SoftAuthenticator(ORIGIN);
    await passkeys.enrol(await passkeys.confirmed(ADA), authenticator);
    const { body } = await passkeys.attempt(authenticator);
    expect(body).toMatchObject({ greeting: 'welcome', guard: 'api', email: ADA });
    await t.person('root@example.com', 'admin');
    const { body: staff } = await t.login('root@example.com', PASSWORD, 'admin').expect(200);
    expect(staff).toMatchObject({ greeting: 'welcome', guard: 'admin', email: 'root@example.com' });
  });
});

describe('a presenter of one guard', () => {
  it('gets no refresh token in cookie mode, and does not affect other guards', async () => {
    class Own extends Presenter {
      override login(fields: TokenBody): object {
        return { fields: Object.keys(fields) };
      }
    }
    const t = await TestApp.start({
      options: { guards: { admin: { presenter: { useFactory: () => new Own() }, cookieMode: true } } as never },
    });
    try {
      await t.person(ADA);
      await t.person('root@example.com', 'admin');
      expect(await t.session()).toHaveProperty('access_token');
      const { body, headers } = await t.login('root@example.com', PASSWORD, 'admin').expect(200);
      expect(body).toEqual({ fields: ['access_token', 'token_type', 'expires_in'] });
      expect(headers['set-cookie']).toHaveLength(1);
    } finally {
      await t.stop();
    }
  });
});

describe('a presenter that throws', () => {
  class Broken extends Presenter {
    override refresh(): object {
      throw new Error('of the host');
    }
    override async login(): Promise<object> {
      throw new Error('of the host');
    }
  }
  const t = TestApp.forFile({ options: { presenter: Broken } });

  it('does not cost a client its tokens', async () => {
    await t.person(ADA);
    const session = await t.session();
    const { body } = await t.refresh(session.refresh_token).expect(200);
    expect(body).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) });
  });
});
