import { Browser } from '../support/flows/device-sessions';
import { AuthEvents, AuthHealth, Pruning, SessionEnded } from '@svc/auth';
import { SecurityEventDelivery } from '@svc/auth/operators';
import { SoftAuthenticator } from '@svc/auth/testing';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { mailedCode, sendCode } from '../support/flows/email-code';
import { LIBRARY_STATEMENTS } from '../support/stores/library-statements';
import { REPORT_URL, report } from '../support/flows/known-devices';
import { API_URL, EMAIL_CHANGE, type Mailbox, RESET_URL, linkIn, member, startMembers } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp, storePasskey } from '../support/flows/passkeys';
import { recordStatements } from '../support/stores/query-plans';
import { confirmEnrolment, enrolment, enrolmentToken, startEnrolment } from '../support/flows/required-factor';
import { type StatementKeys, loadParser, statementKeys } from '../support/stores/statement-keys';
import { EventReceiver, deliver, deliveringTo } from '../support/flows/security-events';
import { act, granted, operatorOptions, operatorSession, resetGranted } from '../support/flows/operators';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { asConfirmed, codeOf, completeChallenge, enrol, startChallenge } from '../support/flows/two-factor';
import { Member, PASSWORD } from '../support/hosts/user-entities';
import { SubjectProvider } from '../support/hosts/verifying-service';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

/** The columns by which the rows of a table are found. Each alternative determines all rows that a statement means. */
const KEYS: Record<string, readonly (readonly string[])[]> = {
  svc_sessions: [['id'], ['guard', 'user_id']],
  svc_passkeys: [['credential_id'], ['guard', 'user_id']],
  svc_password_resets: [['guard', 'user_id']],
  svc_email_changes: [
    ['id'],
    ['guard', 'user_id'],
    ['guard', 'confirm_hash'],
    ['guard', 'undo_hash'],
    ['guard', 'held_email'],
  ],
  svc_identities: [['id'], ['guard', 'user_id'], ['guard', 'issuer', 'subject']],
  svc_access_keys: [['id'], ['guard', 'user_id'], ['guard', 'service']],
  svc_suspensions: [['guard', 'user_id']],
  svc_audit: [['id'], ['guard', 'user_id']],
  svc_audit_keys: [['guard', 'user_id']],
  svc_security_events: [['position'], ['guard', 'user_id']],
  svc_device_keys: [['id'], ['guard', 'user_id']],
  svc_known_devices: [['id'], ['guard', 'user_id'], ['link_hash']],
  svc_trusted_devices: [['guard', 'user_id']],
  svc_email_deliveries: [['id'], ['guard', 'user_id']],
  svc_lockouts: [
    ['guard', 'purpose', 'subject'],
    ['guard', 'subject'],
  ],
  members: [['id'], ['email']],
};

/** Statements of the driver, of TypeORM, of transactions, and of the tests. */
const OF_OTHERS =
  /^(BEGIN|SAVEPOINT|RELEASE SAVEPOINT|START TRANSACTION|COMMIT|ROLLBACK|SET LOCAL|SET TRANSACTION|SHOW |SELECT version|SELECT \* FROM current_schema|CREATE |DROP )|svc_test_|pg_terminate_backend|string_agg\(item|^INSERT INTO svc_(passkeys|email_deliveries)|^UPDATE members SET/i;

/** What breaks the rule of the page on scale, in the words of the parser. The page states why each of them stays. */
const EXCEPTIONS: Record<string, readonly string[]> = {
  readCaller: ['members and svc_sessions in one statement'],
  findSessionAndUser: ['members and svc_sessions in one statement'],
  issueReset: ['members and svc_password_resets in one statement'],
  addPasskey: ['members and svc_passkeys in one statement'],
  endSessionsOfGuard: ['svc_sessions in every shard'],
  endsSince: ['svc_sessions in every shard'],
  pruneSessions: ['svc_sessions in every shard'],
  pruneHistory: ['svc_audit in every shard'],
  pruneLockouts: ['svc_lockouts in every shard'],
  pruneResets: ['svc_password_resets in every shard'],
  pruneEmailChanges: ['svc_email_changes in every shard'],
  pagePasskeys: ['svc_passkeys in every shard'],
  pageDeliveries: ['svc_email_deliveries in every shard'],
  addDeviceKey: ['svc_device_keys and svc_sessions in one statement'],
  findDeviceKey: ['svc_device_keys and svc_sessions in one statement'],
  pageDeviceKeys: ['svc_device_keys and svc_sessions in one statement', 'svc_device_keys in every shard'],
  recordDevice: ['svc_known_devices and svc_sessions in one statement'],
  pageIdentities: ['svc_identities in every shard'],
  // The id of the user is a column of the row, so the parser finds no key.
  findAccessKey: ['members and svc_access_keys in one statement', 'members in every shard'],
  pageAccessKeys: ['svc_access_keys in every shard'],
  revokeAccessKeysOfGuard: ['svc_access_keys in every shard'],
  pruneSuspensions: ['svc_suspensions in every shard'],
  claimSecurityEvents: ['svc_security_events in every shard'],
  giveUpSecurityEvents: ['svc_security_events in every shard'],
  findDeadSecurityEvent: ['svc_security_events in every shard'],
  reviveSecurityEvents: ['svc_security_events in every shard'],
  pruneSecurityEvents: ['svc_security_events in every shard'],
  pageDevices: ['svc_known_devices in every shard'],
  removeDevicesOfGuard: ['svc_trusted_devices in every shard'],
  pruneDevices: ['svc_trusted_devices in every shard'],
  pageHistory: ['svc_audit and svc_audit_keys in one statement'],
  isTaken: ['members in every shard'],
};

const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();
const namesOf = (text: string): string[] =>
  Object.entries(LIBRARY_STATEMENTS).flatMap(([name, { text: pattern }]) => (pattern.test(flat(text)) ? name : []));
const judged = (text: string): StatementKeys => statementKeys(text, (table) => KEYS[table]);

/** The keys in the words of the table. */
function keysIn(statements: readonly StatementKeys[]): string {
  const accesses = statements.flatMap(({ accesses: all }) => all);
  const ofTable = (table: string): string => {
    const keys = new Set(accesses.flatMap((access) => (access.table === table ? [access.by] : [])));
    const known = [...keys].filter((by) => by !== null).toSorted();
    const words = [...known.map((by) => `by ${by}`), ...(keys.has(null) ? ['in every shard'] : [])];
    return `${table} ${words.join(' and ')}`;
  };
  const tables = [...new Set(accesses.map(({ table }) => table))].toSorted();
  return tables.map(ofTable).join(', ') || 'no table';
}

describeWithRedis('the statements of the library', () => {
  let texts: string[];
  let byName: Record<string, StatementKeys[]>;

  beforeAll(async () => {
    await loadParser();
    const { statements, stop } = recordStatements(/^/);
    await everyFlow().finally(stop);
    texts = [...new Set(statements.map(({ text }) => text))].filter((text) => !OF_OTHERS.test(text.trim()));
    byName = {};
    for (const text of texts) for (const name of namesOf(text)) (byName[name] ??= []).push(judged(text));
  });

  it('are those of the table, each with one name', () => {
    expect(texts.map((text) => [namesOf(text).length, text]).filter(([count]) => count !== 1)).toEqual([]);
    expect(Object.keys(byName).toSorted()).toEqual(Object.keys(LIBRARY_STATEMENTS).toSorted());
  });

  it('find their rows by the keys of the table', () => {
    expect(Object.fromEntries(Object.entries(byName).map(([name, all]) => [name, keysIn(all)]))).toEqual(
      Object.fromEntries(Object.entries(LIBRARY_STATEMENTS).map(([name, { rows }]) => [name, rows])),
    );
  });

  it('use one table by a key of its own, modify it once and hold no lock beyond a transaction, with named exceptions', () => {
    const flaws = Object.entries(byName).map(([name, all]) => [
      name,
      [...new Set(all.flatMap((one) => one.flaws))].toSorted(),
    ]);
    expect(Object.fromEntries(flaws.filter(([, found]) => found!.length > 0))).toEqual(EXCEPTIONS);
  });

  it('are on the page with a reason if they break the rule', () => {
    const page = readFileSync('docs/scale.md', 'utf8');
    const reasons = page.slice(page.indexOf('### Statements that break the rule'), page.indexOf('### Engines'));
    expect([...reasons.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(
      expect.arrayContaining(Object.keys(EXCEPTIONS)),
    );
  });

  it('take advisory locks in two statements only', () => {
    const locking = Object.keys(byName).filter((name) => byName[name]!.some(({ locks }) => locks.length > 0));
    expect(locking.toSorted()).toEqual(['lockUntilCommit', 'tryLock']);
  });
});

describe('the parser finds in a statement', () => {
  beforeAll(loadParser);

  it.each([
    ['SELECT 1 FROM svc_sessions WHERE guard = $1 AND revoked_at IS NULL', ['svc_sessions in every shard']],
    ['SELECT 1 FROM svc_sessions WHERE id = $1 OR guard = $2', ['svc_sessions in every shard']],
    ['SELECT 1 FROM svc_sessions s WHERE s.id = s.user_id::uuid', ['svc_sessions in every shard']],
    ['SELECT 1 FROM svc_sessions WHERE id > $1', ['svc_sessions in every shard']],
    ['DELETE FROM svc_sessions WHERE id IN (SELECT id FROM svc_sessions)', ['svc_sessions in every shard']],
    [
      'SELECT (SELECT count(*) FROM svc_sessions) FROM members WHERE id = $1',
      ['svc_sessions in every shard', 'members and svc_sessions in one statement'],
    ],
    [
      'SELECT 1 FROM members m JOIN svc_sessions s ON s.user_id = m.id AND s.guard = $2 WHERE m.id = $1',
      ['members and svc_sessions in one statement'],
    ],
    ['LOCK TABLE svc_sessions IN SHARE MODE', ['LOCK TABLE']],
    ['SELECT pg_advisory_lock(1)', ['pg_advisory_lock: held beyond the transaction']],
    [
      'WITH a AS (INSERT INTO svc_sessions (id) VALUES ($1)), b AS (INSERT INTO svc_passkeys (credential_id) VALUES ($2)) SELECT 1',
      ['two inserts', 'svc_passkeys and svc_sessions in one statement'],
    ],
    [
      'WITH a AS (UPDATE svc_sessions SET ip = $2 WHERE id = $1 RETURNING id) INSERT INTO svc_sessions (id) SELECT id FROM a',
      ['one table is modified twice'],
    ],
    ['SELECT 1 FROM svc_sessions WHERE id = ANY($1::uuid[])', []],
    ['SELECT 1 FROM svc_sessions WHERE (id = $1 OR id = $2) AND guard = $3', []],
    ['UPDATE svc_sessions s SET ip = NULL FROM unnest($1::uuid[]) a (id) WHERE s.id = a.id', []],
    ['DELETE FROM svc_lockouts WHERE guard = $1 AND (purpose, subject) IN (SELECT * FROM unnest($2, $3))', []],
    ['BEGIN; SET LOCAL statement_timeout = 1', []],
  ])('%s: %j', (text, flaws) => {
    expect(judged(text).flaws).toEqual(flaws);
  });
});

/** Requires that a request succeeds. */
async function ok<Answer extends { status: number }>(call: PromiseLike<Answer>): Promise<Answer> {
  const answer = await call;
  expect(answer.status).toBeLessThan(300);
  return answer;
}

/** An email in capitals, and an index that refuses it in another case: a registration has to find out which value is taken. */
const WITHOUT_CASE = `CREATE UNIQUE INDEX members_email_without_case ON members (lower(email));
  INSERT INTO members (name, email) VALUES ('Eve', 'Eve@example.com')`;
const FEATURES = {
  lockout: true,
  twoFactor: true,
  passkeys: true,
  emailChange: true,
  knownDevices: true,
  accessKeys: true,
};
const BOB = 'bob@example.com';

/** Uses the routes and calls of the library that send statements. */
async function everyFlow(): Promise<void> {
  const { t, mailbox } = await startMembers(
    {
      ...PASSKEYS,
      knownDevices: { frontendUrl: REPORT_URL },
      features: FEATURES,
      twoFactor: { trustedDeviceDays: 30 },
    },
    { tables: WITHOUT_CASE },
  );
  const id = await member(t, ADA);
  await ofSessions(t, id);
  await ofAccessKeys(t, id);
  await ofAccounts(t, mailbox);
  await ofFactors(t);
  await ofDevices(t, mailbox);
  await ofMaintenance(t);
  await t.stop();
  await ofOperators();
  await ofConcealedRegistration();
  await ofPasswordlessUsers();
  await ofCodesAndEnrolments();
  await ofUsersElsewhere();
  await ofSecurityEvents();
  await ofDeviceKeys();
}

async function ofDeviceKeys(): Promise<void> {
  const { t } = await startMembers({ cookieMode: true, features: { deviceBoundCookies: true } });
  await member(t, ADA);
  const browser = new Browser(t);
  await browser.renew(await browser.start());
  await t.stop();
}

async function ofSessions(t: TestApp, id: string): Promise<void> {
  await t.login(ADA, 'wrong').expect(422);
  await t.login('unknown@example.com').expect(422);
  const tokens = await t.session();
  await ok(t.get('/private', tokens.access_token));
  await ok(t.refresh(tokens.refresh_token));
  await ok(t.refresh(tokens.refresh_token));
  const other = await t.session();
  const { body } = await ok(t.get('/auth/sessions', other.access_token));
  const { id: ended } = body.data.find((one: { current: boolean }) => !one.current);
  await ok(t.call('delete', `/auth/sessions/${ended}`, other.access_token));
  await ok(t.call('delete', '/auth/sessions/others', other.access_token));
  await ok(t.call('post', '/auth/logout', other.access_token));
  await ok(t.call('delete', '/auth/sessions', (await t.session()).access_token));
  await t.auth.startSession(id, {}, ['a']);
  for (let aboveTheCap = 0; aboveTheCap <= 100; aboveTheCap++) await t.auth.startSession(id);
  await t.auth.revoke(randomUUID());
  await t.auth.revokeAll(id);
  await t.auth.revokeEverything();
}

async function ofOperators(): Promise<void> {
  resetGranted();
  const { t } = await startMembers(operatorOptions({}, { users: { entity: Member } }));
  await member(t, 'root@example.com');
  const [user, operator] = [await member(t, ADA), await operatorSession(t)];
  granted[`admin:${user}`] = [];
  await ok(act(t, operator, user, 'suspend'));
  await ok(t.get(`/admin/auth/operators/users/${user}`, operator.token));
  await ok(act(t, operator, user, 'restore'));
  await t.app.get(Pruning).run();
  await t.stop();
}

async function ofAccessKeys(t: TestApp, userId: string): Promise<void> {
  const { accessKeys } = t.auth;
  for (const owner of [{ userId }, { service: 'ci' }]) {
    const { id, access_key: key } = await accessKeys.create(owner, { label: 'cron' });
    await accessKeys.verify(key, { ip: '203.0.113.7' });
    await accessKeys.listOf(owner);
    await accessKeys.revokeAny(id);
  }
}

async function ofAccounts(t: TestApp, mailbox: Mailbox): Promise<void> {
  const passwords = { password: PASSWORD, password_confirmation: PASSWORD };
  const form = { name: 'Bob', email: BOB, ...passwords };
  const { access_token: token } = (await ok(t.http.post('/auth/register').send(form))).body;
  await t.http.post('/auth/register').send(form).expect(422);
  const taken = { ...form, email: 'eve@example.com' };
  await t.http.post('/auth/register').send(taken).expect(422);
  const { href } = linkIn(await mailbox.to(BOB));
  await ok(t.http.get(href.replace(API_URL, '')));
  const next = { current_password: PASSWORD, password: `${PASSWORD}2`, password_confirmation: `${PASSWORD}2` };
  await ok(t.call('post', '/auth/password', token).send(next));
  await ok(t.http.post('/auth/forgot-password').send({ email: BOB }));
  const mailed = () => mailbox.mails.find(({ text }) => text.includes(RESET_URL));
  await eventually(async () => mailed() !== undefined);
  const reset = linkIn(mailed()!).searchParams.get('token');
  await ok(t.http.post('/auth/reset-password').send({ token: reset, email: BOB, ...passwords }));
  await ofEmailChanges(t, mailbox);
  const { access_token: last } = await t.session(BOB);
  const proof = await confirmationTokenOf(t, last);
  await ok(t.get('/auth/account/export', last).set(CONFIRMATION_HEADER, proof));
  await ok(asConfirmed(t, 'delete', '/auth/account', last, proof));
}

/** Changes the email of Bob, and undoes the change. Bob has the usual password afterwards. */
async function ofEmailChanges(t: TestApp, mailbox: Mailbox): Promise<void> {
  const tokenIn = async (url: string, number = 1): Promise<string> => {
    const mails = () => mailbox.mails.filter(({ text }) => text.includes(url));
    await eventually(async () => mails().length >= number);
    return linkIn(mails()[number - 1]!).searchParams.get('token')!;
  };
  const { access_token: token } = await t.session(BOB);
  const proof = await confirmationTokenOf(t, token);
  const request = asConfirmed(t, 'post', '/auth/email/change', token, proof);
  await ok(request.send({ email: 'bob@new.example' }));
  await ok(t.http.post('/auth/email/change/confirm').send({ token: await tokenIn(EMAIL_CHANGE.confirmUrl) }));
  await ok(t.http.post('/auth/email/change/undo').send({ token: await tokenIn(EMAIL_CHANGE.undoUrl) }));
  const passwords = { password: PASSWORD, password_confirmation: PASSWORD };
  const reset = { token: await tokenIn(RESET_URL, 2), email: BOB, ...passwords };
  await ok(t.http.post('/auth/reset-password').send(reset));
}

async function ofFactors(t: TestApp): Promise<void> {
  const { secret, recoveryCodes, token, proof } = await enrol(t);
  await ok(t.get('/auth/two-factor/recovery-codes', token));
  const challenge = (): Promise<string> => startChallenge(t);
  const answered = { challenge_token: await challenge(), code: codeOf(t, secret), trust_device: true };
  const { trusted_device_token } = (await ok(completeChallenge(t, answered))).body;
  await ok(t.http.post('/auth/login').send({ email: ADA, password: PASSWORD, trusted_device_token }));
  await ok(t.get('/auth/trusted-devices', token));
  await ok(t.call('delete', `/auth/trusted-devices/${randomUUID()}`, token));
  await ok(t.call('delete', '/auth/trusted-devices', token));
  await ok(completeChallenge(t, { challenge_token: await challenge(), recovery_code: recoveryCodes[0] }));
  await ok(asConfirmed(t, 'delete', '/auth/two-factor', token, proof));
  const passkeys = new PasskeyApp(t);
  const authenticator = new SoftAuthenticator(ORIGIN);
  const user = await passkeys.confirmed();
  const id = await passkeys.enrol(user, authenticator);
  await passkeys.signIn(authenticator);
  await ok(passkeys.call('get', 'passkeys', user));
  await ok(passkeys.call('patch', `passkeys/${id}`, user).send({ name: 'key' }));
  const answer = await passkeys.answer(authenticator);
  await ok(t.call('post', '/auth/confirm-passkey', user.access_token).send(answer));
  await ok(passkeys.call('delete', `passkeys/${id}`, user));
}

async function ofDevices(t: TestApp, mailbox: Mailbox): Promise<void> {
  const email = 'dan@example.com';
  await member(t, email);
  await t.session(email);
  const { access_token: token } = await t.session(email);
  const { data } = (await ok(t.get('/auth/devices', token))).body;
  await ok(t.call('delete', `/auth/devices/${data[0].id}`, token));
  await ok(report(t, linkIn(await mailbox.to(email)).searchParams.get('token')));
  const reset = () => mailbox.mails.find(({ to, text }) => to === email && text.includes(RESET_URL));
  await eventually(async () => reset() !== undefined);
  const passwords = { password: `${PASSWORD}2`, password_confirmation: `${PASSWORD}2` };
  const { searchParams } = linkIn(reset()!);
  await ok(t.http.post('/auth/reset-password').send({ ...Object.fromEntries(searchParams), ...passwords }));
}

async function ofMaintenance(t: TestApp): Promise<void> {
  await storePasskey(t, 'orphan', randomUUID());
  await t.database.query(
    "INSERT INTO svc_email_deliveries VALUES (gen_random_uuid(), 'api', gen_random_uuid()::text, 'x', now())",
  );
  await t.app.get(Pruning).runUnlessActive();
  const checks = t.app.get(AuthHealth).indicators();
  await Promise.all(checks.map((check) => check()));
  const { client } = await redisCache(sharedRedisUrl()!);
  await ok(t.call('post', '/auth/logout', (await t.session()).access_token));
  // Another timeline, and a store without its random key: the node repairs both.
  const [timeline] = await client.keys(`svc:db:*:${new URL(t.databaseUrl).pathname.slice(1)}`);
  await client.set(timeline!, 'another');
  await client.del('svc:store');
  await eventually(async () => (await client.get(timeline!)) !== 'another');
  await client.disconnect();
}

async function ofConcealedRegistration(): Promise<void> {
  const options = { registration: { concealExisting: true }, emailVerification: { blockUnverifiedLogin: true } };
  const { t } = await startMembers(options);
  await member(t, ADA);
  const form = { name: 'Ada', email: ADA, password: PASSWORD, password_confirmation: PASSWORD };
  await ok(t.http.post('/auth/register').send(form));
  await t.stop();
}

async function ofPasswordlessUsers(): Promise<void> {
  const features = { passkeys: true, passkeyRegistration: true };
  const { t } = await startMembers({ ...PASSKEYS, features });
  const device = new SoftAuthenticator(ORIGIN);
  const fields = { name: 'Bob', email: BOB };
  const { ceremony_id, options } = (await ok(t.http.post('/auth/register/passkey/options').send(fields))).body;
  const body = { ...fields, ceremony_id, credential: device.create(options) };
  const { access_token } = (await ok(t.http.post('/auth/register/passkey').send(body))).body;
  const answer = await new PasskeyApp(t).answer(device);
  const confirmed = await ok(t.call('post', '/auth/confirm-passkey', access_token).send(answer));
  const path = `/auth/passkeys/${body.credential.id}`;
  await asConfirmed(t, 'delete', path, access_token, confirmed.body.confirmation_token).expect(409);
  await t.stop();
}

async function ofCodesAndEnrolments(): Promise<void> {
  const features = { ...FEATURES, emailCode: true, conditionalCreate: true };
  const twoFactor = { required: (user: object) => (user as { email: string }).email !== ADA };
  const { t, mailbox } = await startMembers({ ...PASSKEYS, features, twoFactor, knownDevices: { mail: false } });
  for (const email of [ADA, BOB, 'eve@example.com']) await member(t, email);
  // The first one proves an address that was not verified.
  for (let i = 0; i < 2; i++) await ok(sendCode(t, await mailedCode(t, mailbox)));
  const ofBob = await enrolmentToken(t, BOB);
  await ok(confirmEnrolment(t, ofBob, await startEnrolment(t, ofBob)));
  const enrolment_token = await enrolmentToken(t, 'eve@example.com');
  const options = (await ok(enrolment(t, '/passkey-options', { enrolment_token }))).body;
  const credential = new SoftAuthenticator(ORIGIN).create(options);
  await ok(enrolment(t, '/passkey', { enrolment_token, credential }));
  await t.database.query(
    `UPDATE members SET password_hash = (SELECT password_hash FROM members WHERE email = '${BOB}')`,
  );
  const { access_token: token } = await t.session(ADA);
  const creation = (await ok(t.call('post', '/auth/passkeys/conditional-options', token))).body;
  const offered = { credential: new SoftAuthenticator(ORIGIN).create(creation) };
  await ok(t.call('post', '/auth/passkeys/conditional', token).send(offered));
  await t.stop();
}

async function ofSecurityEvents(): Promise<void> {
  const receiver = new EventReceiver();
  await receiver.start();
  const t = await TestApp.start({ options: deliveringTo(receiver) });
  receiver.answer = receiver.refuse(500);
  const client = { ip: null, userAgent: null };
  t.app.get(AuthEvents).emit(new SessionEnded('api', '1', randomUUID(), client, [], 'revoked'));
  await deliver(t);
  await t.app.get(AuthHealth).deliveries();
  await t.app.get(SecurityEventDelivery).revive();
  receiver.answer = receiver.accept;
  t.clock.advance(300);
  await deliver(t);
  await t.stop();
  await receiver.stop();
}

async function ofUsersElsewhere(): Promise<void> {
  const features = { accountDeletion: false };
  const t = await TestApp.start({ options: { users: { provider: SubjectProvider }, features } });
  const { accessToken, refreshToken } = await t.auth.startSession('7');
  await ok(t.get('/private', accessToken));
  await ok(t.get('/auth/sessions', accessToken));
  await ok(t.refresh(refreshToken));
  // A token of a session without a row.
  const bytes = Buffer.from(refreshToken, 'base64url');
  bytes[5]! ^= 1;
  await t.refresh(bytes.toString('base64url')).expect(401);
  await t.stop();
}
