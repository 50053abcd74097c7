import { Pruning } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import type { Response } from 'supertest';
import { hangingMails, linkIn, member, membersForFile } from '../support/hosts/members';
import { NOT_REGISTERED, NOT_VERIFIED, ORIGIN, PASSKEYS, UNKNOWN_PASSKEY } from '../support/flows/passkeys';
import { requestStatements } from '../support/stores/request-statements';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { ADA } from '../support/hosts/user-entities';

const NEW = 'grace@example.com';
const DAY = 86_400;
const MALLORY = 'mallory@example.com';

/** The parts of an answer by which a client could distinguish it. */
const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) => ({
  status,
  text,
  headers,
});

describe('a registration with a passkey that conceals existing accounts', () => {
  const { t, mailbox } = membersForFile({
    features: { passkeys: true, passkeyRegistration: true },
    passkeys: PASSKEYS.passkeys,
    registration: { concealExisting: true },
    emailVerification: { blockUnverifiedLogin: true },
    storeTimeoutMs: 20_000,
  });
  beforeEach(() => member(t, ADA, { emailVerifiedAt: new Date() }));
  const begun = async (device: SoftAuthenticator, email: string, credentialId?: Buffer) => {
    const fields = { name: 'Grace', email };
    const { ceremony_id, options } = (await t.http.post('/auth/register/passkey/options').send(fields).expect(200))
      .body;
    return { ...fields, ceremony_id, credential: device.create(options, { credentialId }) };
  };
  const finish = (body: object) => t.http.post('/auth/register/passkey').send(body);
  const register = async (email: string, device = new SoftAuthenticator(ORIGIN)): Promise<SoftAuthenticator> => {
    await finish(await begun(device, email)).expect(202);
    return device;
  };
  const answerOf = async (device: SoftAuthenticator) => {
    const { ceremony_id, options } = (await t.http.post('/auth/passkeys/login-options')).body;
    return { ceremony_id, credential: device.get(options) };
  };
  const signIn = async (device: SoftAuthenticator) => t.http.post('/auth/passkeys/login').send(await answerOf(device));

  it('is answered with the same bytes and headers for every address', async () => {
    const device = new SoftAuthenticator(ORIGIN);
    const first = await finish(await begun(device, NEW)).expect(202);
    expect(first.body).toEqual({ status: 'registration-received' });
    for (const email of [ADA, NEW, ' ADA@example.com '])
      expect(shape(await finish(await begun(device, email)))).toEqual(shape(first));
    expect(await t.database.query('SELECT email FROM members ORDER BY email')).toEqual([
      { email: ADA },
      { email: NEW },
    ]);
  });

  it('mails the owner of a taken address, and a link to the owner of a new one, whose passkey then signs in', async () => {
    await register(ADA);
    expect((await mailbox.to(ADA)).subject).toContain('You already have');
    const device = await register(NEW);
    const { pathname, search } = linkIn(await mailbox.to(NEW));
    await t.http
      .get(pathname + search)
      .set('Accept', 'application/json')
      .expect(204);
    expect((await signIn(device)).status).toBe(200);
  });

  it('does not show by a login whether the address was taken: neither passkey is refused as an unknown one', async () => {
    const [created, taken] = [await register(NEW), await register(ADA)];
    const unknown = new SoftAuthenticator(ORIGIN);
    unknown.create({ rp: { id: 'example.com' }, user: { id: 'eA' }, challenge: 'eA' });
    const answers = [await signIn(created), await signIn(taken)];
    for (const answer of answers) {
      expect(answer.body).toEqual(NOT_VERIFIED);
      expect(shape(answer)).toEqual(shape(answers[0]!));
    }
    expect((await signIn(unknown)).body).toEqual(UNKNOWN_PASSKEY);
  });

  it('does the same queries at such a login, whether or not the address was taken', async () => {
    const [created, taken] = [await register(NEW), await register(ADA)];
    await t.calm();
    const statements = requestStatements(t);
    const work = async (device: SoftAuthenticator): Promise<number> => {
      const answer = await answerOf(device);
      statements.mockClear();
      await t.http.post('/auth/passkeys/login').send(answer).expect(422);
      return statements.mock.calls.length;
    };
    expect(await work(created)).toBe(2);
    expect(await work(taken)).toBe(2);
  });

  it('does not show by a confirmation of another account whether the address was taken', async () => {
    const [created, taken] = [await register(NEW), await register(ADA)];
    const { access_token } = (await t.login(ADA).expect(200)).body;
    await t.calm();
    const statements = requestStatements(t);
    const confirm = async (device: SoftAuthenticator) => {
      const answer = await answerOf(device);
      statements.mockClear();
      const refused = await t.call('post', '/auth/confirm-passkey', access_token).send(answer);
      return { answer: shape(refused), body: refused.body, statements: statements.mock.calls.length };
    };
    const [ofAccount, ofNone] = [await confirm(created), await confirm(taken)];
    expect(ofAccount.body).toEqual(NOT_VERIFIED);
    expect(ofAccount).toEqual(ofNone);
  });

  it('does not show the address by the id of its passkey: it is taken afterwards in both cases', async () => {
    const id = (fill: number): Buffer => Buffer.alloc(32, fill);
    const device = new SoftAuthenticator(ORIGIN);
    await finish(await begun(device, NEW, id(1))).expect(202);
    await finish(await begun(device, ADA, id(2))).expect(202);
    for (const fill of [1, 2]) {
      const again = await finish(await begun(device, MALLORY, id(fill))).expect(422);
      expect(again.body).toEqual(NOT_REGISTERED);
    }
    expect(await t.database.query('SELECT 1 FROM members WHERE email = $1', [MALLORY])).toEqual([]);
    const { access_token } = (await t.login(ADA).expect(200)).body;
    const proof = await confirmationTokenOf(t, access_token);
    const call = (path: string) => t.call('post', `/auth/${path}`, access_token).set(CONFIRMATION_HEADER, proof);
    for (const fill of [1, 2]) {
      const { body: options } = await call('passkeys/registration-options').expect(200);
      const credential = device.create(options, { credentialId: id(fill) });
      await call('passkeys').send({ credential }).expect(422);
    }
  });

  it('does the same work before the answer for every address', async () => {
    // Work that runs after the answer must not count, so the mails wait.
    await hangingMails(t, mailbox);
    // The first insert reads whether the rows of the users can be locked.
    await register('first@example.com');
    const statements = requestStatements(t);
    const work = async (email: string): Promise<string[]> => {
      const body = await begun(new SoftAuthenticator(ORIGIN), email);
      statements.mockClear();
      await finish(body).expect(202);
      return statements.mock.calls.map(([text]) => text.trim().split(/\s/).slice(0, 2).join(' '));
    };
    const [created, found] = [await work(NEW), await work(ADA)];
    expect(created.filter((text) => text === 'INSERT INTO')).toHaveLength(2);
    expect(found).toEqual(created.map((text, i) => (i === created.indexOf('INSERT INTO') ? 'SELECT 1' : text)));
    mailbox.release();
  });

  it('occupies an id without a user: the row belongs to no guard', async () => {
    await register(ADA);
    expect(await t.database.query('SELECT user_id, guard FROM svc_passkeys')).toEqual([{ user_id: '', guard: null }]);
  });

  it('does not show that the owner of the address has reset the password: the passkey stays refused as before', async () => {
    const [created, taken] = [await register(NEW), await register(ADA)];
    await mailbox.nth(2);
    await t.http.post('/auth/forgot-password').send({ email: NEW }).expect(200);
    const token = linkIn(await mailbox.nth(3)).searchParams.get('token');
    const password = 'another horse entirely';
    const reset = { email: NEW, token, password, password_confirmation: password };
    await t.http.post('/auth/reset-password').send(reset).expect(200);
    await t.login(NEW, password).expect(200);
    await t.calm();
    const statements = requestStatements(t);
    const seen = async (device: SoftAuthenticator) => {
      const answer = await answerOf(device);
      statements.mockClear();
      const refused = shape(await t.http.post('/auth/passkeys/login').send(answer).expect(422));
      const cost = statements.mock.calls.length;
      const id = Buffer.from([...device.held.keys()][0]!, 'base64url');
      return [refused, cost, shape(await finish(await begun(new SoftAuthenticator(ORIGIN), MALLORY, id)))];
    };
    expect(await seen(created)).toEqual(await seen(taken));
    expect(await t.database.query('SELECT DISTINCT user_id, guard FROM svc_passkeys')).toEqual([
      { user_id: '', guard: null },
    ]);
  });

  it('is pruned after 30 days, unless the address was proved: alike for every address', async () => {
    const verify = async (email: string) => {
      const { pathname, search } = linkIn(await mailbox.to(email));
      await t.http
        .get(pathname + search)
        .set('Accept', 'application/json')
        .expect(204);
    };
    const ids = async () =>
      (await t.database.query<{ id: string }[]>('SELECT credential_id AS id FROM svc_passkeys')).map(({ id }) => id);
    const prune = () => t.app.get(Pruning).run();
    await register('eve@example.com');
    await verify('eve@example.com');
    const [own] = await ids();
    await register(NEW);
    await register(ADA);
    t.clock.advance(30 * DAY);
    expect(await prune()).toMatchObject({ passkeys: 0 });
    t.clock.advance(3600);
    expect(await prune()).toMatchObject({ passkeys: 2 });
    expect(await ids()).toEqual([own]);
    expect(await prune()).toMatchObject({ passkeys: 0 });
  });
});
