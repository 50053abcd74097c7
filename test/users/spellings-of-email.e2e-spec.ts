import { PasswordHasher } from '@svc/auth';
import { Client } from 'pg';
import { codeIn, requestCode, sendCode } from '../support/flows/email-code';
import { UNLIMITED } from '../support/hosts/host.module';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { plannedAccesses, recordStatements } from '../support/stores/query-plans';
import { requestStatements } from '../support/stores/request-statements';
import { PASSWORD } from '../support/hosts/user-entities';

/** Firefox and applications send the first, Chromium the second. The third is decomposed, as macOS writes file names. */
const [U_LABEL, A_LABEL, DECOMPOSED] = [
  'ada@m\u00fcller.example',
  'ada@xn--mller-kva.example',
  'ada@mu\u0308ller.example',
];
const SPELLINGS = [U_LABEL, A_LABEL, DECOMPOSED, ' Ada@M\u00dcLLER.Example ', 'ADA@XN--MLLER-KVA.EXAMPLE'];
const NEXT = 'another horse entirely';

const form = (email: string) => ({ name: 'Ada', email, password: PASSWORD, password_confirmation: PASSWORD });

describe('one mailbox in several spellings', () => {
  const { t, mailbox } = membersForFile({ features: { emailCode: true, lockout: true }, lockout: { maxAttempts: 4 } });
  const register = (email: string) => t.http.post('/auth/register').send(form(email));
  const forgot = (email: string) => t.http.post('/auth/forgot-password').send({ email });
  const reset = (email: string, token: string) =>
    t.http.post('/auth/reset-password').send({ email, token, password: NEXT, password_confirmation: NEXT });
  const emails = async (): Promise<string[]> =>
    (await t.database.query('SELECT email FROM members ORDER BY created_at, email')).map(
      ({ email }: { email: string }) => email,
    );
  /** A row as other software has written it. */
  const stored = async (email: string): Promise<void> => {
    const digest = await t.app.get(PasswordHasher).hash(PASSWORD);
    await t.database.query('INSERT INTO members (name, email, password_hash) VALUES ($1, $2, $3)', [
      'Ada',
      email,
      digest,
    ]);
  };

  it.each(SPELLINGS)('is one account, registered as %j', async (first) => {
    await register(first).expect(200);
    for (const spelling of SPELLINGS) {
      const { body } = await register(spelling).expect(422);
      expect(Object.keys(body.errors)).toEqual(['email']);
      await t.login(spelling).expect(200);
    }
    expect(await emails()).toEqual([A_LABEL]);
  });

  it('is one account of concurrent registrations', async () => {
    const answers = await Promise.all([...SPELLINGS, ...SPELLINGS].map((email) => register(email)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(422)]);
    expect(await emails()).toEqual([A_LABEL]);
  });

  it('has a local part that is compared in NFC', async () => {
    await register('ju\u0308rgen@example.com').expect(200);
    await register('J\u00dcRGEN@example.com').expect(422);
    await t.login('j\u00fcrgen@example.com').expect(200);
    await t.login('jurgen@example.com').expect(422);
    expect(await emails()).toEqual(['j\u00fcrgen@example.com']);
  });

  it('gets the mails for each spelling at the address that is stored', async () => {
    await stored(U_LABEL);
    await forgot(A_LABEL).expect(200);
    expect((await mailbox.nth(1)).to).toBe(U_LABEL);
    const { body } = await requestCode(t, DECOMPOSED).expect(202);
    const code = await mailbox.nth(2);
    expect(code.to).toBe(U_LABEL);
    await sendCode(t, { code_token: body.code_token, code: codeIn(code) }).expect(200);
  });

  it.each([U_LABEL, DECOMPOSED, 'Ada@Example.com', 'Ada@xn--mller-kva.example'])(
    'signs in, is reset and is verified where other software has stored it as %j',
    async (email) => {
      await stored(email);
      await t.login(email).expect(200);
      await forgot(email).expect(200);
      const mail = await mailbox.to(email);
      await reset(email, linkIn(mail).searchParams.get('token')!).expect(200);
      await t.login(email, NEXT).expect(200);
      const rows = await t.database.query('SELECT email, email_verified_at IS NOT NULL AS verified FROM members');
      expect(rows).toEqual([{ email, verified: true }]);
    },
  );

  it('is that of the row with the submitted spelling, if several rows have one', async () => {
    for (const email of [U_LABEL, A_LABEL]) await stored(email);
    for (const email of [U_LABEL, A_LABEL]) {
      const { body } = await t.login(email).expect(200);
      const [row] = await t.database.query(
        'SELECT email FROM members JOIN svc_sessions ON user_id = members.id::text ORDER BY svc_sessions.created_at DESC LIMIT 1',
      );
      expect([row.email, typeof body.access_token]).toEqual([email, 'string']);
    }
  });

  it('is no account if several rows have other spellings, and nothing can be registered in one', async () => {
    for (const email of [U_LABEL, A_LABEL]) await stored(email);
    const unknown = await t.login('unknown@example.com');
    const ambiguous = await t.login(DECOMPOSED).expect(422);
    expect(ambiguous.body).toEqual(unknown.body);
    await forgot(DECOMPOSED).expect(200);
    await register(DECOMPOSED).expect(422);
    await t.calm();
    expect(mailbox.mails).toEqual([]);
    expect(await emails()).toHaveLength(2);
  });

  it.each([true, false])('has one counter of failed logins, if it has an account: %j', async (isKnown) => {
    if (isKnown) await register(A_LABEL).expect(200);
    for (const email of SPELLINGS.slice(0, 4)) await t.login(email, 'wrong').expect(422);
    for (const email of SPELLINGS) await t.login(email).expect(423);
    expect(await t.database.query('SELECT DISTINCT subject FROM svc_lockouts')).toHaveLength(1);
  });

  it('is refused by field where the domain cannot be one', async () => {
    for (const email of [
      'ada@a\u2ff0b.example',
      'ada@m\u00fcller.example/x',
      'ada@m\u00fcller.example:25',
      'ada@[::1]',
    ]) {
      expect(Object.keys((await register(email).expect(422)).body.errors)).toEqual(['email']);
      await forgot(email).expect(422);
      await t.login(email).expect(422);
    }
  });

  it('is looked up with the same statements whether or not it has an account', async () => {
    await register(A_LABEL).expect(200);
    const statements = requestStatements(t);
    const lookUp = async (email: string): Promise<string[]> => {
      statements.mockClear();
      await t.login(email, 'wrong').expect(422);
      return statements.mock.calls.map(([text]) => text).filter((text) => text.includes('"email" = ANY'));
    };
    const [known, unknown] = [await lookUp(U_LABEL), await lookUp('eve@m\u00fcller.example')];
    expect(known).toHaveLength(1);
    expect(unknown).toEqual(known);
  });

  it('is found by the index of the table, for one spelling and for all of them', async () => {
    await t.database.query(
      `INSERT INTO members (name, email) SELECT 'x', n || '@example.com' FROM generate_series(1, 20000) n; ANALYZE members`,
    );
    const { statements, stop } = recordStatements(/"email" = ANY/);
    for (const email of ['7@example.com', ' J\u00fcrgen@M\u00dcLLER.Example'])
      await t.login(email, 'wrong').expect(422);
    stop();
    expect(statements.map(({ values }) => (values[0] as string[]).length)).toEqual([1, 7]);
    const client = new Client({ connectionString: t.databaseUrl });
    await client.connect();
    const plans: Awaited<ReturnType<typeof plannedAccesses>>[] = [];
    for (const statement of statements) plans.push(await plannedAccesses(client, statement, 'custom'));
    await client.end();
    // The versions of PostgreSQL scan for several values in different ways.
    expect(plans.map((reads) => reads.map(({ by, index }) => [by.startsWith('Seq'), index !== undefined]))).toEqual([
      [[false, true]],
      [[false, true]],
    ]);
  });
});

describe('one mailbox in several spellings, at a registration that conceals accounts', () => {
  const { t, mailbox } = membersForFile({
    features: { passwordReset: true, lockout: true },
    registration: { concealExisting: true },
    emailVerification: { blockUnverifiedLogin: true },
  });

  it('is one account, whose owner gets a mail for each spelling', async () => {
    await member(t, A_LABEL, { emailVerifiedAt: new Date() });
    await t.http.post('/auth/register').send(form(DECOMPOSED)).expect(202);
    expect((await mailbox.nth(1)).to).toBe(A_LABEL);
    expect(await t.database.query('SELECT email FROM members')).toEqual([{ email: A_LABEL }]);
    for (const email of SPELLINGS) await t.login(email, 'wrong').expect(422);
    expect(await t.database.query('SELECT subject, attempts FROM svc_lockouts')).toEqual([
      { subject: `idn:${A_LABEL}`, attempts: SPELLINGS.length },
    ]);
  });
});

describe('the limit on failed logins of an address', () => {
  const { t } = membersForFile({ rateLimits: { ...UNLIMITED, login: { maxAttempts: 3, decaySeconds: 60 } } });

  it('is one for all its spellings, with and without an account', async () => {
    await member(t, 'eve@m\u00fcller.example');
    for (const name of ['ada', 'eve']) {
      const own = SPELLINGS.map((email) => email.replace(/ada/i, name));
      for (const email of own.slice(0, 3)) await t.login(email, 'wrong').expect(422);
      for (const email of own) await t.login(email, 'wrong').expect(429);
    }
  });
});
