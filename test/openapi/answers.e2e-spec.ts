import { createHash, randomUUID } from 'node:crypto';
import { TestApp, claimsOf } from '../support/hosts/app';
import { codeIn } from '../support/flows/email-code';
import { forge } from '../support/clients/forge';
import { type Mailbox, linkIn, member, startMembers } from '../support/hosts/members';
import { ORIGIN, PASSKEYS } from '../support/flows/passkeys';
import { PASSWORD } from '../support/hosts/user-entities';
import { SoftAuthenticator } from '@svc/auth/testing';
import { codeOf, secretIn } from '../support/flows/two-factor';
import { DocumentChecker, documentOf } from './support/document-checker';
import * as operators from './support/operators';
import * as refusals from './support/refusals';

const ADA = 'ada@example.com';
const GRACE = 'grace@example.com';
const NEW_PASSWORD = 'another-horse-battery';

/** A user who must have a second factor. */
const IVY = 'ivy@example.com';
const mustHave = (user: object): boolean =>
  ['ivy@example.com', 'lead@example.com'].includes((user as { email: string }).email);

const start = (more: Parameters<typeof startMembers>[0] = {}) =>
  startMembers({
    ...PASSKEYS,
    features: {
      ...PASSKEYS.features,
      twoFactor: true,
      knownDevices: true,
      emailCode: true,
      verificationByAddress: true,
    },
    knownDevices: { mail: false },
    lockout: { maxAttempts: 2 },
    twoFactor: { required: mustHave },
    keyPrefix: `${randomUUID()}:`,
    ...more,
    emailVerification: {
      blockUnverifiedLogin: true,
      frontendUrl: 'https://app.example.test/verified',
      ...more.emailVerification,
    },
  });

const { UNKNOWN_PARAMS } = refusals;

const verified = { emailVerifiedAt: new Date() };

describe('the routes answer as the OpenAPI document says', () => {
  let t: TestApp;
  let mailbox: Mailbox;
  let contract: DocumentChecker;

  const token = async (email = ADA): Promise<string> => (await t.session(email)).access_token;
  const prove = async (of: string): Promise<string> =>
    (await contract.expect(t, 'api_confirm_password', 200, { token: of, body: { password: PASSWORD } })).body
      .confirmation_token;

  beforeAll(async () => {
    ({ t, mailbox } = await start());
    contract = await DocumentChecker.of(documentOf(t.app));
    await member(t, ADA, verified);
    await t.person(operators.OPERATOR_EMAIL, 'admin');
  });

  afterAll(() => t.stop());

  it('without a token, and with an invalid token', () => refusals.checkUnauthenticated(t, contract));
  it('to requests that cannot be parsed', () => refusals.checkUnreadableBodies(t, contract));
  it('to a pinned session', () => refusals.checkPinned(t, contract));

  it('without a confirmation, and with a confirmation of another session', async () => {
    const [own, another] = [await token(), await token()];
    await refusals.checkUnconfirmed(t, contract, own, await prove(another));
  });

  it('to fields of a wrong type, too long, or missing', async () => {
    const own = await token();
    await refusals.checkInvalidFields(t, contract, own, await prove(own));
  });

  it('beyond every rate limit', async () => {
    const limited = await start({ rateLimits: refusals.ONE_EACH });
    await member(limited.t, ADA, verified);
    await limited.t.person(operators.OPERATOR_EMAIL, 'admin');
    await refusals.checkRateLimits(limited.t, contract, ADA);
    await limited.t.stop();
  });

  it('while the security store does not answer', async () => {
    const down = await start({ emailVerification: { blockUnverifiedLogin: false } });
    const fields = { name: 'Eve', email: 'eve@example.com', password: PASSWORD, password_confirmation: PASSWORD };
    await contract.expect(down.t, 'api_register', 200, { body: fields });
    await member(down.t, ADA, verified);
    await down.t.person(operators.OPERATOR_EMAIL, 'admin');
    await refusals.checkStoreOutage(down.t, contract);
    await down.t.stop();
  });

  it('to a registration that conceals existing accounts', async () => {
    const concealing = await start({ registration: { concealExisting: true } });
    const own = await DocumentChecker.of(documentOf(concealing.t.app));
    await member(concealing.t, ADA, verified);
    const fields = { name: 'Eve', password: PASSWORD, password_confirmation: PASSWORD };
    for (const email of [ADA, GRACE])
      await own.expect(concealing.t, 'api_register', 202, { body: { ...fields, email } });
    await own.expect(concealing.t, 'api_register', 422, { body: { ...fields, email: 'ada' } });
    await own.expect(concealing.t, 'api_login', 422, { body: { email: GRACE, password: PASSWORD } });
    await concealing.t.stop();
  });

  it('to the requests of an account, from registration to deletion', async () => {
    const name = 'Grace';
    const fields = { name, email: GRACE, password: PASSWORD, password_confirmation: PASSWORD };
    await contract.expect(t, 'api_register', 201, { body: fields });
    await contract.expect(t, 'api_register', 422, { body: fields });
    await contract.expect(t, 'api_login', 403, { body: { email: GRACE, password: PASSWORD } });

    const { pathname, search } = linkIn(await mailbox.to(GRACE));
    const [hash, id] = pathname.split('/').toReversed();
    const link = { params: { id: id!, hash: hash! }, query: search };
    await contract.expect(t, 'api_email_verify_probe', 204, link);
    await contract.expect(t, 'api_email_verify', 403, { ...link, query: '' });
    await contract.expect(t, 'api_email_verify', 302, { ...link, headers: { Accept: 'text/html' } });
    await contract.expect(t, 'api_email_verify', 204, { ...link, headers: { Accept: 'application/json' } });

    const login = await contract.expect(t, 'api_login', 200, { body: { email: GRACE, password: PASSWORD } });
    const { access_token: own, refresh_token } = login.body;
    await contract.expect(t, 'api_email_prove', 204, { ...link, token: own });
    await contract.expect(t, 'api_email_verification_send', 202, { token: own });
    await contract.expect(t, 'api_email_verification_request', 202, { body: { email: GRACE } });
    await contract.expect(t, 'api_email_prove', 403, { ...link, query: '', token: own });
    await contract.expect(t, 'api_refresh', 200, { body: { refresh_token } });
    await contract.expect(t, 'api_refresh', 401, { body: { refresh_token: 'none' } });

    const { data } = (await contract.expect(t, 'api_sessions_list', 200, { token: own })).body;
    await t.session(GRACE);
    const { body: two } = await contract.expect(t, 'api_sessions_list', 200, { token: own });
    const other = two.data.find(({ current }: { current: boolean }) => !current).id;
    expect(other).not.toBe(data[0].id);
    await contract.expect(t, 'api_session_end', 204, { token: own, params: { svcSession: other } });
    await contract.expect(t, 'api_session_end', 404, { token: own, params: UNKNOWN_PARAMS });
    await contract.expect(t, 'api_sessions_end_others', 204, { token: own });
    const nameless = forge({ claims: { sub: claimsOf(own).sub }, without: ['fid', 'jti'] });
    await contract.expect(t, 'api_logout', 409, { token: nameless });

    await contract.expect(t, 'api_confirm_password', 422, { token: own, body: { password: 'wrong' } });
    const proof = await prove(own);
    await contract.expect(t, 'api_account_export', 200, { token: own, proof });
    const change = { current_password: PASSWORD, password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD };
    await contract.expect(t, 'api_password_change', 200, { token: own, body: change });
    await contract.expect(t, 'api_password_change', 422, { token: own, body: change });

    await contract.expect(t, 'api_password_forgot', 200, { body: { email: GRACE } });
    const reset = linkIn(await mailbox.nth(2)).searchParams.get('token');
    const newPassword = { email: GRACE, password: PASSWORD, password_confirmation: PASSWORD };
    await contract.expect(t, 'api_password_reset', 200, { body: { ...newPassword, token: reset } });
    await contract.expect(t, 'api_password_reset', 422, { body: { ...newPassword, token: reset } });

    const { code_token } = (await contract.expect(t, 'api_email_code_send', 202, { body: { email: GRACE } })).body;
    const code = codeIn(await mailbox.nth(3));
    await contract.expect(t, 'api_email_code_login', 422, { body: { code_token, code: 'x' } });
    await contract.expect(t, 'api_email_code_login', 200, { body: { code_token, code } });

    const last = await token(GRACE);
    await contract.expect(t, 'api_account_delete', 204, { token: last, proof: await prove(last) });
  });

  it('to passkeys', async () => {
    const grace = await member(t, GRACE, verified);
    const own = await token(GRACE);
    const confirmed = { token: own, proof: await prove(own) };
    const device = new SoftAuthenticator(ORIGIN);
    const begin = async () => (await contract.expect(t, 'api_passkey_register_options', 200, confirmed)).body;
    const credential = device.create(await begin());
    await contract.expect(t, 'api_passkey_register', 204, { ...confirmed, body: { credential, name: 'Phone' } });
    // A second ceremony, which excludes the existing passkey, and a response that was already used.
    await begin();
    await contract.expect(t, 'api_passkey_register', 422, { ...confirmed, body: { credential } });

    const signedChallenge = async () => {
      const { ceremony_id, options } = (await contract.expect(t, 'api_passkey_login_options', 200)).body;
      return { ceremony_id, credential: device.get(options) };
    };
    await contract.expect(t, 'api_passkey_login', 200, { body: await signedChallenge() });
    const answer = await signedChallenge();
    await contract.expect(t, 'api_confirm_passkey', 200, { token: own, body: answer });
    await contract.expect(t, 'api_confirm_passkey', 422, { token: own, body: answer });

    const { passkeys } = (await contract.expect(t, 'api_passkeys_list', 200, { token: own })).body;
    const params = { svcPasskey: passkeys[0].id };
    await contract.expect(t, 'api_passkey_rename', 204, { ...confirmed, params, body: { name: 'Key' } });
    await contract.expect(t, 'api_passkey_rename', 404, { ...confirmed, params: UNKNOWN_PARAMS, body: {} });
    await contract.expect(t, 'api_account_export', 200, confirmed);

    await t.database.query('UPDATE members SET email_verified_at = NULL WHERE id = $1', [grace]);
    await contract.expect(t, 'api_passkey_login', 403, { body: await signedChallenge() });
    await t.database.query('DELETE FROM members WHERE id = $1', [grace]);
    await contract.expect(t, 'api_passkey_login', 401, { body: await signedChallenge() });
    const adas = await token();
    await contract.expect(t, 'api_passkey_delete', 204, {
      token: adas,
      proof: await prove(adas),
      params: UNKNOWN_PARAMS,
    });
  });

  it('to a second factor', async () => {
    const grace = await member(t, GRACE, verified);
    const own = await token(GRACE);
    const confirmed = { token: own, proof: await prove(own) };
    await contract.expect(t, 'api_recovery_codes_renew', 409, confirmed);
    const { body } = await contract.expect(t, 'api_two_factor_enrol', 200, confirmed);
    const code = () => ({ code: codeOf(t, secretIn(body.otpauth_uri)) });
    await contract.expect(t, 'api_two_factor_confirm', 422, { ...confirmed, body: { code: '000000' } });
    await contract.expect(t, 'api_two_factor_confirm', 204, { ...confirmed, body: code() });
    await contract.expect(t, 'api_two_factor_enrol', 409, confirmed);
    await contract.expect(t, 'api_recovery_codes_count', 200, { token: own });
    await contract.expect(t, 'api_recovery_codes_renew', 200, confirmed);

    t.clock.advance(30);
    const challenge = async () => {
      const { body: due } = await contract.expect(t, 'api_login', 200, { body: { email: GRACE, password: PASSWORD } });
      return due.challenge_token as string;
    };
    const challenge_token = await challenge();
    await contract.expect(t, 'api_challenge', 200, { body: { challenge_token, ...code() } });
    await contract.expect(t, 'api_challenge', 422, { body: { challenge_token, ...code() } });
    t.clock.advance(30);
    const late = await challenge();
    await t.database.query('UPDATE members SET email_verified_at = NULL WHERE id = $1', [grace]);
    await contract.expect(t, 'api_challenge', 403, { body: { challenge_token: late, ...code() } });
    const wrong = { challenge_token: late, code: '000000' };
    for (const status of [422, 422, 423]) await contract.expect(t, 'api_challenge', status, { body: wrong });
    await contract.expect(t, 'api_two_factor_disable', 204, confirmed);
  });

  it('to a user who must have a second factor', async () => {
    const id = await member(t, IVY, verified);
    const begin = async () =>
      (await contract.expect(t, 'api_login', 200, { body: { email: IVY, password: PASSWORD } })).body.enrolment_token;
    const enrolment_token = await begin();
    const { body } = await contract.expect(t, 'api_enrolment_start', 200, { body: { enrolment_token } });
    const device = new SoftAuthenticator(ORIGIN);
    const options = await contract.expect(t, 'api_enrolment_passkey_options', 200, { body: { enrolment_token } });
    const passkey = { body: { enrolment_token, credential: device.create(options.body) } };
    const confirm = { body: { enrolment_token, code: codeOf(t, secretIn(body.otpauth_uri)) } };
    await t.database.query('UPDATE members SET email_verified_at = NULL WHERE id = $1', [id]);
    await contract.expect(t, 'api_enrolment_start', 403, { body: { enrolment_token } });
    await contract.expect(t, 'api_enrolment_confirm', 403, confirm);
    await contract.expect(t, 'api_enrolment_passkey_options', 403, { body: { enrolment_token } });
    await contract.expect(t, 'api_enrolment_passkey', 403, passkey);
    await t.database.query('UPDATE members SET email_verified_at = now() WHERE id = $1', [id]);
    const { body: tokens } = await contract.expect(t, 'api_enrolment_confirm', 200, confirm);
    await contract.expect(t, 'api_enrolment_confirm', 422, confirm);
    const own = { token: tokens.access_token, proof: await prove(tokens.access_token) };
    await contract.expect(t, 'api_two_factor_disable', 409, own);
    await t.auth.twoFactor.disable(id);
    const next = await begin();
    const again = await contract.expect(t, 'api_enrolment_passkey_options', 200, { body: { enrolment_token: next } });
    const credential = device.create(again.body);
    await contract.expect(t, 'api_enrolment_passkey', 200, { body: { enrolment_token: next, credential } });
    const params = { svcPasskey: credential.id };
    await contract.expect(t, 'api_passkey_delete', 409, { ...own, params });
    await t.database.query('DELETE FROM svc_passkeys');
    const last = { body: { enrolment_token: await begin(), code: '000000' } };
    for (const status of [422, 422, 423]) await contract.expect(t, 'api_enrolment_confirm', status, last);
    for (const operation of ['api_trusted_devices_list'])
      await contract.expect(t, operation, 200, { token: tokens.access_token });
    await contract.expect(t, 'api_trusted_device_forget', 204, { token: tokens.access_token, params: UNKNOWN_PARAMS });
    await contract.expect(t, 'api_trusted_devices_forget_all', 204, { token: tokens.access_token });
  });

  it('to a user who is locked out', async () => {
    const hal = 'hal@example.com';
    await member(t, hal, verified);
    const own = await token(hal);
    const wrong = { token: own, body: { password: 'wrong' } };
    for (const status of [422, 422, 423]) await contract.expect(t, 'api_confirm_password', status, wrong);
    const change = { current_password: PASSWORD, password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD };
    await contract.expect(t, 'api_password_change', 423, { token: own, body: change });
    const login = { body: { email: hal, password: 'wrong' } };
    for (const status of [422, 422, 423]) await contract.expect(t, 'api_login', status, login);
    const { code_token } = (await contract.expect(t, 'api_email_code_send', 202, { body: { email: hal } })).body;
    await contract.expect(t, 'api_email_code_login', 423, { body: { code_token, code: 'x' } });
  });

  it('to the devices of a user, and to the report of a sign-in', async () => {
    const ida = 'ida@example.com';
    await member(t, ida, verified);
    const operator = (await t.auth.guard('admin').startSession(1, { request: { headers: {} } })).accessToken;
    for (const [guard, own] of [
      ['api', await token(ida)],
      ['admin', operator],
    ] as const) {
      const { body } = await contract.expect(t, `${guard}_devices_list`, 200, { token: own });
      const params = { svcKnownDevice: body.data[0].id };
      await contract.expect(t, `${guard}_device_forget`, 204, { token: own, params });
      await t.database.query('UPDATE svc_known_devices SET link_hash = $2 WHERE id = $1', [
        params.svcKnownDevice,
        createHash('sha256').update(guard).digest('hex'),
      ]);
      await contract.expect(t, `${guard}_sign_in_report`, 200, { body: { token: guard } });
      await contract.expect(t, `${guard}_sign_in_report`, 422, { body: { token: 'none' } });
    }
  });

  it('at another guard', () => operators.checkOperatorSessions(t, contract));
  it('to a second factor and to locks of another guard', () => operators.checkOperatorFactors(t, contract));

  it('when sessions are ended, and when the key set is requested', async () => {
    await contract.expect(t, 'api_logout', 204, { token: await token() });
    await contract.expect(t, 'api_sessions_end_all', 204, { token: await token() });
    for (const id of ['api_jwks', 'admin_jwks']) await contract.expect(t, id, 200);
  });

  it('and every documented answer was received', () => {
    // Operators have no email to verify.
    expect(contract.unmet).toEqual([
      'admin_login 403',
      'admin_challenge 403',
      'admin_enrolment_start 403',
      'admin_enrolment_confirm 403',
    ]);
  });
});

describe('in cookie mode the routes answer as the OpenAPI document says', () => {
  const t = TestApp.forFile({ options: { cookieMode: true } });
  let contract: DocumentChecker;

  beforeEach(async () => {
    await t.person(ADA);
    contract ??= await DocumentChecker.of(documentOf(t.app));
  });

  const login = () => contract.expect(t, 'api_login', 200, { body: { email: ADA, password: PASSWORD } });

  it('with the refresh token in the cookie that the refresh route reads', async () => {
    const [cookie] = (await login()).headers['set-cookie'] as unknown as string[];
    const { securitySchemes } = documentOf(t.app).components!;
    const { name } = securitySchemes!.api_refresh_cookie as { name: string };
    expect(cookie).toMatch(new RegExp(`^${name}=[\\w-]{71};`));
    await contract.expect(t, 'api_refresh', 200, { headers: { Cookie: cookie!.split(';')[0]! } });
    await contract.expect(t, 'api_refresh', 401);
  });

  it('to requests of other sites', async () => {
    const headers = { Origin: 'https://evil.example' };
    for (const id of ['api_login', 'api_refresh']) await contract.expect(t, id, 403, { headers });
  });

  it('when a session ends, with the documented header', async () => {
    const { body } = await login();
    const { headers } = await contract.expect(t, 'api_logout', 204, { token: body.access_token });
    expect(headers['set-cookie']).toBeDefined();
    expect(contract.op('api_logout').responses[204]).toHaveProperty('headers.Set-Cookie');
    expect(contract.op('api_sessions_end_others').responses[204]).not.toHaveProperty('headers.Set-Cookie');
  });
});
