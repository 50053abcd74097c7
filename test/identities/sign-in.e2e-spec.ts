import { UserProvider, Verified } from '@svc/auth';
import { claimsOf } from '../support/hosts/app';
import { hangingMails, member } from '../support/hosts/members';
import { GRACE, IdentityHost, PAGES, REFUSED, pageOf } from '../support/flows/identities';
import { RoundTrips } from '../support/stores/round-trips';

describe('a sign-in with a provider', () => {
  const host = IdentityHost.forFile();
  const { t } = host;
  const identities = () => t.database.query('SELECT user_id, provider, issuer, subject, email FROM svc_identities');

  it('creates an account with a verified address at the first time, and signs the same user in at the next', async () => {
    const first = await host.signIn();
    expect(first.body).toMatchObject({ token_type: 'Bearer' });
    expect(first.status).toBe(200);
    const { sub } = claimsOf(first.body.access_token);
    expect(
      await t.database.query('SELECT email, name, password_hash, email_verified_at IS NULL AS open FROM members'),
    ).toEqual([{ email: 'grace@example.com', name: 'Grace Hopper', password_hash: null, open: false }]);
    expect(await identities()).toEqual([
      { user_id: sub, provider: 'acme', issuer: host.acme.issuer, subject: 'grace-1', email: 'grace@example.com' },
    ]);
    const second = await host.signIn();
    expect(second.status).toBe(200);
    expect(claimsOf(second.body.access_token)).toMatchObject({ sub, amr: ['fed'] });
  });

  it.each([
    ['with the account', true],
    ['afterwards, if the user store does not do it', false],
  ])('stores a proved address as verified %s, and announces it once', async (_, isKept) => {
    const verified: Verified[] = [];
    t.on(Verified, (event) => verified.push(event));
    const users: UserProvider = t.app.get(UserProvider);
    const create = users.create!.bind(users);
    const given = jest.spyOn(users, 'create' as never) as unknown as jest.SpyInstance<
      unknown,
      Parameters<typeof create>
    >;
    given.mockImplementation(({ emailVerifiedAt, ...account }, manager) =>
      create(isKept ? { ...account, emailVerifiedAt } : account, manager),
    );
    await host.signIn();
    expect(given.mock.calls[0]![0].emailVerifiedAt).toBeInstanceOf(Date);
    given.mockRestore();
    expect(await t.database.query('SELECT email FROM members WHERE email_verified_at IS NOT NULL')).toHaveLength(1);
    expect(verified).toHaveLength(1);
  });

  it('finds the user by issuer and subject, also when the provider states another email', async () => {
    const { sub } = claimsOf((await host.signIn()).body.access_token);
    await member(t, 'ada@example.com');
    const again = await host.signIn({ ...GRACE, email: 'ada@example.com' });
    expect(claimsOf(again.body.access_token).sub).toBe(sub);
    expect(await host.listed(again.body)).toMatchObject([{ email: 'ada@example.com' }]);
    const silent = await host.signIn({ ...GRACE, email: undefined });
    expect(await host.listed(silent.body)).toMatchObject([{ email: 'ada@example.com' }]);
  });

  it('is another person for the same subject at another issuer', async () => {
    const { sub } = claimsOf((await host.signIn()).body.access_token);
    const other = await host.signIn({ ...GRACE, email: 'other@example.org' }, 'other');
    expect(claimsOf(other.body.access_token).sub).not.toBe(sub);
  });

  it('never signs in to an account with the address of the person', async () => {
    await member(t, 'grace@example.com');
    const { status, body } = await host.signIn();
    expect([status, body.message]).toEqual([
      409,
      'This sign-in is not linked to an account yet. Sign in another way, and link it in your account.',
    ]);
    const claimed = await host.signIn({ ...GRACE, email_verified: 'true' });
    expect([claimed.status, Object.keys(claimed.body.errors)]).toEqual([422, ['email']]);
    const elsewhere = await host.signIn(GRACE, 'other');
    expect([elsewhere.status, Object.keys(elsewhere.body.errors)]).toEqual([422, ['email']]);
    expect(await identities()).toEqual([]);
  });

  it('asks for the fields that the provider does not give, and keeps the person until they are sent', async () => {
    const { status, body } = await host.signIn({ ...GRACE, name: undefined });
    expect([status, body]).toEqual([
      200,
      {
        status: 'registration-required',
        continuation_token: expect.any(String),
        expires_in: 600,
        fields: ['name'],
        name: null,
        email: 'grace@example.com',
      },
    ]);
    const register = (more: object) =>
      t.http.post('/auth/identities/register').send({ continuation_token: body.continuation_token, ...more });
    await register({}).expect(422);
    const done = await register({ name: 'Grace' }).expect(200);
    expect(claimsOf(done.body.access_token).amr).toEqual(['fed']);
    await register({ name: 'Grace' }).expect(422);
    expect(await identities()).toHaveLength(1);
  });

  it('needs five round trips in a row, and so does a link; a new account needs six, and nine in a store of the host', async () => {
    await hangingMails(t, host.mailbox);
    await t.calm();
    const counted = new RoundTrips(t);
    const inARow = async (answer: PromiseLike<{ status: number }>): Promise<number> => {
      expect((await answer).status).toBe(200);
      return counted.inARow;
    };
    // With an address that the provider proves, the known person, and with one that it does not prove.
    const created = await inARow(host.signIn());
    const known = await inARow(host.signIn());
    const unproved = await inARow(host.signIn({ ...GRACE, sub: 'ada', email: 'ada@example.org' }, 'other'));
    // A store of the host creates the account by its own statements, and the user is read again after the commit.
    const users: UserProvider = t.app.get(UserProvider);
    const own = jest.spyOn(users, 'create' as never);
    const byHost = await inARow(host.signIn({ ...GRACE, sub: 'eve', email: 'eve@example.org' }, 'other'));
    own.mockRestore();
    const session = await host.session();
    const begun = await host.beginLink(session, await host.proofOf(session), 'other');
    const linked = await inARow(host.answerLink(session, begun, GRACE, 'other'));
    host.mailbox.release();
    expect({ known, created, unproved, byHost, linked }).toEqual({
      known: 5,
      created: 6,
      unproved: 6,
      byHost: 9,
      linked: 5,
    });
  });

  it('accepts only a listed page', async () => {
    const { authorization_url: url } = await host.begin('acme', { redirect_uri: PAGES[1] });
    expect(new URL(url).searchParams.get('redirect_uri')).toBe(PAGES[1]);
    for (const redirect_uri of [`${PAGES[0]}/`, 'https://evil.example/', `${PAGES[0]}?next=//evil.example`, 7]) {
      const { status, body } = await t.http.post('/auth/identities/acme').send({ redirect_uri });
      expect([status, Object.keys(body.errors)]).toEqual([422, ['redirect_uri']]);
    }
    await t.http.post('/auth/identities/unknown').expect(404);
    await t.http.post('/auth/identities/constructor').expect(404);
  });
});

describe('an attack on a sign-in with a provider', () => {
  const host = IdentityHost.forFile();
  const { t } = host;
  const refused = async (answer: PromiseLike<{ status: number; body: unknown }>): Promise<void> => {
    const { status, body } = await answer;
    expect([status, body]).toEqual([422, REFUSED]);
  };

  it('has no effect with the token or the state of another attempt, and uses none up', async () => {
    const [victim, attacker] = [await host.begin(), await host.begin()];
    const parameters = await host.signedIn(victim.authorization_url, GRACE);
    const forged = await host.signedIn(attacker.authorization_url, { ...GRACE, sub: 'attacker' });
    // A stolen callback in another browser, and the login of an attacker in the browser of a victim.
    await refused(host.send(parameters, attacker.attempt_token));
    await refused(host.send(forged, victim.attempt_token));
    await refused(host.send(parameters, ''));
    const without = new URLSearchParams(parameters);
    without.delete('state');
    await refused(host.send(String(without), victim.attempt_token));
    await host.send(parameters, victim.attempt_token).expect(200);
  });

  it('has no effect with the answer of another provider', async () => {
    const [acme, other] = [await host.begin('acme'), await host.begin('other')];
    const parameters = await host.signedIn(other.authorization_url, GRACE);
    await refused(host.send(parameters, other.attempt_token, 'acme'));
    await refused(host.send(parameters, other.attempt_token, 'acme', { redirect_uri: pageOf('other') }));
    const mixed = new URLSearchParams(parameters);
    mixed.set('state', new URL(acme.authorization_url).searchParams.get('state')!);
    await refused(host.send(String(mixed), acme.attempt_token, 'acme'));
    expect(host.acme.requests).not.toContain('token');
    await host.send(parameters, other.attempt_token, 'other').expect(200);
  });

  it('uses a callback once, of many at the same time', async () => {
    await host.signIn();
    for (let round = 0; round < 5; round++) {
      const begun = await host.begin();
      const parameters = await host.signedIn(begun.authorization_url, GRACE);
      const answers = await Promise.all(
        Array.from({ length: 4 }, async () => (await host.send(parameters, begun.attempt_token)).status),
      );
      expect(answers.toSorted()).toEqual([200, 422, 422, 422]);
    }
  });

  it('finds the attempt over at its end', async () => {
    const begun = await host.begin();
    const parameters = await host.signedIn(begun.authorization_url, GRACE);
    t.clock.advance(600);
    await refused(host.send(parameters, begun.attempt_token));
  });
});

describe('a provider that is away', () => {
  const host = IdentityHost.forFile();

  it('is answered 503, and the attempt is used up only if the code was sent', async () => {
    await host.signIn();
    const begun = await host.begin();
    const parameters = await host.signedIn(begun.authorization_url, GRACE);
    host.acme.answer('token', (_, response) => response.writeHead(503).end());
    await host.send(parameters, begun.attempt_token).expect(503);
    host.acme.answer('token');
    await host.send(parameters, begun.attempt_token).expect(422);
  });
});

describe('a sign-in with a provider where registrations conceal accounts', () => {
  const host = IdentityHost.forFile({
    emailVerification: { blockUnverifiedLogin: true },
    registration: { concealExisting: true },
  } as never);
  const { t } = host;
  const claim = { ...GRACE, email_verified: false };

  it('gives the same answers for an address with and without an account, again and again', async () => {
    const seen: unknown[] = [];
    for (const email of ['new@example.com', 'taken@example.com']) {
      if (email.startsWith('taken')) await member(t, email, { emailVerifiedAt: new Date() } as never);
      for (let time = 0; time < 2; time++) {
        const { status, body } = await host.signIn({ ...claim, sub: email, email });
        seen.push([status, body]);
      }
    }
    expect(seen).toEqual(Array.from({ length: 4 }, () => [202, { status: 'registration-received' }]));
  });

  it('shows no account by an identity whose address changes', async () => {
    await member(t, 'taken@example.com', { emailVerifiedAt: new Date() } as never);
    await host.signIn({ ...claim, email: 'new@example.com' });
    for (const email of ['free@example.com', 'taken@example.com']) {
      const { status, body } = await host.signIn({ ...claim, email });
      expect([status, body]).toEqual([202, { status: 'registration-received' }]);
    }
    // As for an identity that no account has: the account that was never used does not keep it.
    expect(
      await t.database.query('SELECT m.email FROM svc_identities i JOIN members m ON m.id::text = i.user_id'),
    ).toEqual([{ email: 'free@example.com' }]);
  });

  it('signs a person in at once whose address the provider has proved', async () => {
    const { status, body } = await host.signIn();
    expect([status, claimsOf(body.access_token).amr]).toEqual([200, ['fed']]);
  });
});
