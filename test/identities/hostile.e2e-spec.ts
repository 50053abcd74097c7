import { claimsOf } from '../support/hosts/app';
import { json } from '../support/identity-provider/identity-provider';
import { GRACE, IdentityHost, OTHER_PAGES, OVER, type Person, nowSeconds } from '../support/flows/identities';
import { confirmationTokenOf } from '../support/flows/step-up';
import { PASSKEYS } from '../support/flows/passkeys';
import { enrol } from '../support/flows/two-factor';
import { hangingMails, member } from '../support/hosts/members';
import { RoundTrips } from '../support/stores/round-trips';

const VERIFIED = { emailVerifiedAt: new Date() };
const CONCEALING = {
  emailVerification: { blockUnverifiedLogin: true },
  registration: { concealExisting: true },
  rateLimits: {
    confirm: { maxAttempts: 100 },
    identities: { maxAttempts: 1000 },
    emailVerification: { maxAttempts: 100 },
  },
};
const FREE = 'free@example.org';
const TAKEN = 'taken@example.org';

/** Links a person of `acme` with an account, as an import does. */
const linkRow = (host: IdentityHost, userId: string, { sub }: Person, issuer = host.acme.issuer) =>
  host.t.database.query(
    `INSERT INTO svc_identities (id, guard, user_id, provider, issuer, subject, linked_at)
     VALUES (gen_random_uuid(), 'api', $1, 'acme', $2, $3, now())`,
    [userId, issuer, sub],
  );

describe('a hostile provider beside an honest one', () => {
  const host = IdentityHost.forFile();

  it('gets no code of the honest one, whose page the browser came to, and so signs in as no user of it', async () => {
    const { acme, other } = host;
    // The honest one names no issuer in its answers, as Entra, Okta and GitLab.
    for (const provider of [acme, other])
      provider.wrong.discovery = { authorization_response_iss_parameter_supported: undefined };
    const victim = { sub: 'victim', name: 'V', email: 'victim@example.org' };
    const own = await host.session(victim, 'other');
    let stolen = '';
    acme.answer('token', async (request, response) => {
      for await (const chunk of request) stolen += String(chunk);
      json(response, { error: 'invalid_grant' }, 400);
    });
    // The attacker, at the honest provider. The victim, at the hostile one, which sends the browser on with this request.
    const attack = await host.begin('other');
    const begun = await host.begin('acme');
    const forwarded = new URL(attack.authorization_url);
    forwarded.searchParams.set('state', new URL(begun.authorization_url).searchParams.get('state')!);
    const parameters = new URLSearchParams(await host.signedIn(forwarded.href, victim));
    parameters.delete('iss');
    // The page at which the answer came is that of the other provider.
    await host.send(String(parameters), begun.attempt_token, 'acme', { redirect_uri: OTHER_PAGES[0] });
    const code = new URLSearchParams(stolen).get('code');
    const injected = new URLSearchParams({
      code: code ?? 'none',
      state: new URL(attack.authorization_url).searchParams.get('state')!,
    });
    const { status, body } = await host.send(String(injected), attack.attempt_token, 'other');
    const user = status === 200 ? claimsOf(body.access_token as string).sub : null;
    expect({ code, status, isVictim: user === claimsOf(own.access_token).sub }).toEqual({
      code: null,
      status: 422,
      isVictim: false,
    });
  });
});

describe('an attacker, where registrations conceal accounts,', () => {
  const host = IdentityHost.forFile(CONCEALING);
  const { t, mailbox } = host;

  /** Registers with an identity of the attacker and an address that may have an account. */
  async function registers(email: string): Promise<Person> {
    if (email === TAKEN) await member(t, TAKEN, VERIFIED);
    const person = { sub: 'attacker', name: 'X', email };
    expect((await host.signIn(person, 'other')).status).toBe(202);
    return person;
  }

  it('does not learn with a proved address of its own which other addresses have accounts', async () => {
    await member(t, TAKEN, VERIFIED);
    const answers: unknown[] = [];
    for (const email of [FREE, TAKEN]) {
      const { body } = await host.signIn({
        sub: email,
        email: `mine-${email}`.replace('.org', '.com'),
        email_verified: true,
      });
      expect(body).toMatchObject({ status: 'registration-required', fields: ['name'] });
      const fields = { name: 'X', email, continuation_token: body.continuation_token };
      const registered = await t.http.post('/auth/identities/register').send(fields);
      answers.push([registered.status, Object.keys(registered.body).toSorted()]);
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  it('does not learn by a link with another account whether the registration of an identity has created one', async () => {
    const answers: number[] = [];
    for (const email of [FREE, TAKEN]) {
      await t.database.query('DELETE FROM svc_identities');
      const person = await registers(email);
      await member(t, `own-${email}`, VERIFIED);
      const session = await t.session(`own-${email}`);
      const proof = await confirmationTokenOf(t, session.access_token);
      answers.push((await host.link(session, proof, person, 'other')).status);
    }
    expect(answers[0]).toBe(answers[1]);
  });

  it('does not learn by a mail to an address of its own whether the registration of an identity has created an account', async () => {
    const mails: number[] = [];
    for (const email of [FREE, TAKEN]) {
      await t.database.query('DELETE FROM svc_identities');
      const person = await registers(email);
      const own = `attacker-${email}`;
      expect((await host.signIn({ ...person, email: own }, 'other')).status).toBe(202);
      await t.calm();
      mails.push(mailbox.mails.filter(({ to }) => to === own).length);
    }
    expect(mails[0]).toBe(mails[1]);
  });

  /** Makes the requests of one use of an identity, of which the last one is measured. */
  type Use = (person: Person) => Promise<unknown>;
  const signsIn: Use = (person) => host.signIn(person, 'other').then(({ status }) => expect(status).toBe(202));
  const continues: Use = async (person) => {
    const { body } = await host.signIn({ ...person, name: undefined }, 'other');
    const fields = { name: 'X', continuation_token: body.continuation_token };
    await t.calm();
    await t.http.post('/auth/identities/register').send(fields).expect(202);
  };
  const links: Use = async (person) => {
    await member(t, `own-${person.sub}`, VERIFIED);
    const session = await t.session(`own-${person.sub}`);
    const proof = await confirmationTokenOf(t, session.access_token);
    expect((await host.link(session, proof, person, 'other')).status).toBe(200);
  };

  it.each<[string, Use]>([
    ['by a sign-in', signsIn],
    ['by a sign-in after a change of the address', (person) => signsIn({ ...person, email: `new-${person.email}` })],
    ['by a registration that is continued', continues],
    ['by a link', links],
  ])('does not learn %s from the work of the stores whether an identity has an account', async (_, use) => {
    const persons = [FREE, TAKEN].map((email) => ({ sub: email, email, name: 'X' }));
    await member(t, TAKEN, VERIFIED);
    for (const person of persons) await signsIn(person);
    await t.calm();
    // The mails of the requests do not run beside them.
    await hangingMails(t, mailbox);
    const last = new RoundTrips(t);
    const counted: unknown[] = [];
    for (const person of persons) {
      await use(person);
      counted.push(last.trips.map(({ step, store }) => `${step} ${store}`));
    }
    mailbox.release();
    expect(counted[0]).toEqual(counted[1]);
  });

  it('does not learn by an account that was deleted whether the registration of an identity has created it', async () => {
    const answers: number[] = [];
    for (const email of [FREE, TAKEN]) {
      const person = await registers(email);
      await t.database.query('DELETE FROM members WHERE email = $1', [FREE]);
      answers.push((await host.signIn(person, 'other')).status);
      await t.database.query('DELETE FROM svc_identities');
    }
    expect(answers).toEqual([202, 202]);
  });
});

describe('a logout of the provider', () => {
  const host = IdentityHost.forFile({ rateLimits: { confirm: { maxAttempts: 100 } } });
  const { t } = host;

  it('ends the registration of a person who has no account yet, also without a session there', async () => {
    const { body } = await host.signIn({ ...GRACE, name: undefined });
    expect(body.status).toBe('registration-required');
    await host.logOut(host.acme.logoutToken('app', { sub: GRACE.sub })).expect(200);
    const fields = { name: 'Grace', continuation_token: body.continuation_token };
    const registered = await t.http.post('/auth/identities/register').send(fields);
    expect(registered.body).not.toHaveProperty('access_token');
  });

  it('ends the session that an identity has started, also if the identity was removed in it', async () => {
    const person = { ...GRACE, sid: 'first' };
    const grace = await host.session(person);
    const proof = await host.proofOf(grace, person);
    await host.link(grace, proof, { sub: 'grace-other' });
    const { id } = (await host.listed(grace)).find(({ provider }) => provider === 'acme')!;
    await host.call('delete', `identities/${id}`, grace, proof).expect(204);
    await host.logOut(host.acme.logoutToken('app', { sub: GRACE.sub, sid: 'first' })).expect(200);
    expect(await host.isLive(grace)).toEqual(OVER);
  });

  it('with tokens that no provider has signed makes the application ask the provider for its keys once', async () => {
    await host.session();
    t.clock.advance(60);
    host.acme.requests = [];
    const jwks = { keys: host.acme.keys.map(({ jwk }) => jwk) };
    // Longer than the requests need to arrive.
    host.acme.answer('jwks', (_, response) => setTimeout(() => json(response, jwks), 1000));
    const token = host.acme.logoutToken('app', { sub: GRACE.sub }, { kid: 'invented' });
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await host.logOut(token)).status));
    expect(new Set(statuses)).toEqual(new Set([400]));
    expect(host.acme.requests.filter((endpoint) => endpoint === 'jwks')).toHaveLength(1);
  });
});

describe('what a provider says', () => {
  const host = IdentityHost.forFile({ features: { twoFactor: true } }, { secondFactor: 'provider' });
  const { t } = host;

  it('about the authentication counts only in the signed token, not beside it', async () => {
    const id = await member(t, 'ada@example.com');
    await enrol(t, 'ada@example.com');
    await linkRow(host, id, GRACE);
    host.acme.answer('userinfo', (_, response) => json(response, { sub: GRACE.sub, amr: ['mfa'] }));
    host.acme.wrong.claims = { amr: undefined };
    expect((await host.signIn()).body).toHaveProperty('challenge_token');
  });

  it('about the time of the sign-in does not count if it is not over yet', async () => {
    const grace = await host.session();
    const { status } = await host.confirm(grace, { ...GRACE, auth_time: nowSeconds() + 86_400 });
    expect(status).toBe(422);
  });
});

describe('the continuation of a registration', () => {
  const host = IdentityHost.forFile();
  const { t } = host;

  it('signs in to the account that the same person has got in another window', async () => {
    const { body } = await host.signIn({ ...GRACE, name: undefined });
    const { sub } = claimsOf((await host.session()).access_token);
    const fields = { name: 'Grace', continuation_token: body.continuation_token };
    const registered = await t.http.post('/auth/identities/register').send(fields).expect(200);
    expect(claimsOf(registered.body.access_token).sub).toBe(sub);
  });
});

describe('a handle of the form of a provider', () => {
  const host = IdentityHost.forFile({}, { responseMode: 'form_post', pageUrl: 'https://app.example.test/signed-in' });

  it('is not used up by a callback with a wrong token of the attempt', async () => {
    const begun = await host.begin();
    const form = Object.fromEntries(new URLSearchParams(await host.signedIn(begun.authorization_url, GRACE)));
    const { headers } = await host.t.http.post('/auth/identities/acme/form').type('form').send(form).expect(303);
    const query = new URL(headers.location!).search;
    await host.send(query, 'f'.repeat(64)).expect(422);
    await host.send(query, begun.attempt_token).expect(200);
  });
});

describe('the ways to sign in', () => {
  const host = IdentityHost.forFile({ ...PASSKEYS, rateLimits: { confirm: { maxAttempts: 100 } } });

  it('do not contain an identity of an issuer that no provider has any more', async () => {
    const grace = await host.session({ sub: 'grace', name: 'Grace', email: 'grace@example.org' }, 'other');
    const { id } = (await host.listed(grace)).find(({ provider }) => provider === 'other')!;
    const proof = await host.proofOf(grace, { sub: 'grace' }, 'other');
    const [{ user_id: userId }] = await host.t.database.query('SELECT user_id FROM svc_identities');
    await linkRow(host, userId, GRACE, 'https://former.example.test');
    await host.call('delete', `identities/${id}`, grace, proof).expect(409);
  });
});
