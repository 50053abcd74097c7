import { IdentityLinked } from '@svc/auth/identities';
import { Client } from 'pg';
import { claimsOf } from '../support/hosts/app';
import { GRACE, IdentityHost, type Person } from '../support/flows/identities';
import { confirmationTokenOf } from '../support/flows/step-up';
import { member } from '../support/hosts/members';
import { Member } from '../support/hosts/user-entities';
import { eventually } from '../support/runtime/eventually';

const VERIFIED = { emailVerifiedAt: new Date() } as never;
const ADA = 'ada@example.org';
const RATE_LIMITS = { confirm: { maxAttempts: 100 }, identities: { maxAttempts: 1000 } };

/** Links a person of `acme` with an account, under the name of one of the guards with the same users. */
const linkRow = ({ t, acme }: IdentityHost, guard: string, userId: string, { sub }: Person = GRACE) =>
  t.database.query(
    `INSERT INTO svc_identities (id, guard, user_id, provider, issuer, subject, linked_at)
     VALUES (gen_random_uuid(), $1, $2, 'acme', $3, $4, now())`,
    [guard, userId, acme.issuer, sub],
  );

describe('what another request does while an account is created with an identity', () => {
  /** Runs after the identity and the address were looked up, and before the account is stored. */
  let meanwhile: () => Promise<unknown>;
  const check = () => meanwhile().then(() => true);
  const host = IdentityHost.forFile({
    rateLimits: RATE_LIMITS,
    guards: { admin: { users: { entity: Member }, features: { identities: false } } },
    hooks: { registerRules: () => ({ name: { check }, email: { email: true } }) },
  });
  const { t } = host;
  beforeEach(() => void (meanwhile = async () => undefined));
  const rows = async () => [
    await t.database.query('SELECT email FROM members ORDER BY email'),
    await t.database.query('SELECT guard, user_id AS id FROM svc_identities ORDER BY guard'),
  ];

  it.each(['api', 'admin'])('signs in to the account that has got the identity, by the name %s', async (guard) => {
    const id = await member(t, ADA, VERIFIED);
    meanwhile = () => linkRow(host, guard, id);
    const { body } = await host.signIn();
    expect(claimsOf(body.access_token).sub).toBe(id);
    expect(await rows()).toEqual([[{ email: ADA }], [{ guard, id }]]);
  });

  it.each([
    ['with a proved address', GRACE],
    ['with an address that is not proved', { ...GRACE, email: ADA }],
    ['without an address, which is asked', { ...GRACE, email: undefined }],
  ])('signs in from four browsers to the one account of a person, %s', async (_, person) => {
    const linked = t.recorded(IdentityLinked);
    let waiting = 0;
    let open = (): void => undefined;
    const all = new Promise<void>((resolve) => (open = resolve));
    const begun = await Promise.all(Array.from({ length: 4 }, () => host.begin()));
    const callbacks: string[] = [];
    for (const one of begun) callbacks.push(await host.signedIn(one.authorization_url, person));
    const send = begun.map((one, i) => () => host.send(callbacks[i], one.attempt_token));
    const answers = person.email ? [] : await Promise.all(send.map((callback) => callback()));
    const finish = person.email
      ? send
      : answers.map(
          ({ body: { continuation_token } }) =>
            () =>
              t.http.post('/auth/identities/register').send({ email: ADA, continuation_token }),
        );
    // Every browser has found no account when the first one creates it.
    meanwhile = async () => {
      if (++waiting === 4) open();
      await all;
    };
    const tokens = await Promise.all(finish.map(async (request) => (await request()).body));
    const subjects = tokens.map(({ access_token: token }) => token && claimsOf(token).sub);
    const [, [{ id }]] = await rows();
    expect(subjects).toEqual([id, id, id, id]);
    expect(linked).toHaveLength(1);
  });

  it.each([
    ['a proved one', GRACE, 409],
    ['another one', { ...GRACE, email_verified: false }, 422],
  ])('leaves the address to the account that has got it: %s', async (_, person, expected) => {
    meanwhile = () => member(t, GRACE.email!, VERIFIED);
    expect((await host.signIn(person)).status).toBe(expected);
    expect(await rows()).toEqual([[{ email: GRACE.email }], []]);
  });
});

describe('an identity of a guard with the same users', () => {
  const host = IdentityHost.forFile({
    rateLimits: RATE_LIMITS,
    guards: { admin: { users: { entity: Member }, features: { identities: false } } },
  });
  const { t } = host;

  it('signs in, is linked with no other account, and is removed', async () => {
    const id = await member(t, ADA, VERIFIED);
    await linkRow(host, 'admin', id);
    const session = await host.session();
    expect(claimsOf(session.access_token).sub).toBe(id);
    await member(t, 'bob@example.org', VERIFIED);
    const bob = await t.session('bob@example.org');
    const proof = await confirmationTokenOf(t, bob.access_token);
    expect((await host.link(bob, proof, GRACE, 'acme')).status).toBe(409);
    const [listed] = await host.listed(session);
    expect(listed).toMatchObject({ last_used_at: expect.any(String) });
    await host.call('delete', `identities/${listed!.id}`, session, await host.proofOf(session)).expect(204);
    expect(await t.database.query('SELECT 1 FROM svc_identities')).toEqual([]);
  });
});

describe('a removal of an identity', () => {
  const host = IdentityHost.forFile({ rateLimits: RATE_LIMITS, storeTimeoutMs: 20_000 });
  const { t } = host;

  it('does nothing in a session that ends after it was authenticated', async () => {
    await member(t, ADA, VERIFIED);
    const ada = await t.session(ADA);
    const proof = await confirmationTokenOf(t, ada.access_token);
    const { body } = await host.link(ada, proof, GRACE, 'acme');
    const other = new Client({ connectionString: t.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    // The removal has passed its gates when it waits for the lock of the account.
    const { sub } = claimsOf(ada.access_token);
    await other.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`svc:turns:api:${sub}`]);
    const removal = host.call('delete', `identities/${body.id}`, ada, proof).then(({ status }) => status);
    await eventually(async () => {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()";
      return (await t.database.query(waiting)).length === 1;
    });
    await t.database.query('UPDATE svc_sessions SET revoked_at = now()');
    await other.query('COMMIT');
    await other.end();
    expect(await removal).toBe(401);
    expect(await t.database.query('SELECT id FROM svc_identities')).toEqual([{ id: body.id }]);
  });
});

describe('an identity that is free, where registrations conceal accounts', () => {
  let meanwhile: () => Promise<unknown>;
  const check = () => meanwhile().then(() => true);
  const host = IdentityHost.forFile({
    emailVerification: { blockUnverifiedLogin: true },
    registration: { concealExisting: true },
    hooks: { registerRules: () => ({ name: { check }, email: { email: true } }) },
    rateLimits: RATE_LIMITS,
  });
  const { t } = host;

  it('stays with an account that gets it before it is released', async () => {
    meanwhile = async () => undefined;
    const unproved = { ...GRACE, email: 'grace@example.org' };
    expect((await host.signIn(unproved)).status).toBe(202);
    const ada = await member(t, ADA, VERIFIED);
    meanwhile = () => t.database.query('UPDATE svc_identities SET user_id = $1', [ada]);
    await host.signIn({ ...unproved, email: 'new@example.org' });
    expect(await t.database.query('SELECT user_id AS id FROM svc_identities')).toEqual([{ id: ada }]);
  });
});
