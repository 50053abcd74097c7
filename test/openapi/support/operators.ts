import type { TestApp } from '../../support/hosts/app';
import { forge } from '../../support/clients/forge';
import { ADMIN_AUDIENCE } from '../../support/hosts/host.module';
import { PASSWORD } from '../../support/hosts/user-entities';
import { codeOf, secretIn } from '../../support/flows/two-factor';
import type { DocumentChecker } from './document-checker';
import { UNKNOWN_PARAMS } from './refusals';

/** The operator with the id 1. */
export const OPERATOR_EMAIL = 'root@example.com';

/** Checks the routes from login to logout at the guard `admin`. */
export async function checkOperatorSessions(t: TestApp, contract: DocumentChecker): Promise<void> {
  const body = { email: OPERATOR_EMAIL, password: PASSWORD };
  const { body: tokens } = await contract.expect(t, 'admin_login', 200, { body });
  const own = { token: tokens.access_token };
  await contract.expect(t, 'admin_refresh', 200, { body: { refresh_token: tokens.refresh_token } });
  await contract.expect(t, 'admin_refresh', 401, { body: {} });
  await contract.expect(t, 'admin_confirm_password', 200, { ...own, body: { password: PASSWORD } });
  const { data } = (await contract.expect(t, 'admin_sessions_list', 200, own)).body;
  await contract.expect(t, 'admin_sessions_end_others', 204, own);
  await contract.expect(t, 'admin_session_end', 404, { ...own, params: UNKNOWN_PARAMS });
  await contract.expect(t, 'admin_session_end', 204, { ...own, params: { svcSession: data[0].id } });
  for (const operation of ['admin_logout', 'admin_sessions_end_all']) {
    const { accessToken } = await t.auth.guard('admin').startSession(1);
    await contract.expect(t, operation, 204, { token: accessToken });
  }
  const nameless = forge({ claims: { aud: ADMIN_AUDIENCE, sub: '1' }, without: ['fid', 'jti'] });
  await contract.expect(t, 'admin_logout', 409, { token: nameless });
}

/** Checks the second factor of an operator, and the locks after two failures. */
export async function checkOperatorFactors(t: TestApp, contract: DocumentChecker): Promise<void> {
  const guard = t.auth.guard('admin');
  const secret = secretIn((await guard.twoFactor.enrol({ id: 1, email: OPERATOR_EMAIL })).otpauthUri);
  await guard.twoFactor.confirm('1', codeOf(t, secret));
  t.clock.advance(30);
  const challenge = async (): Promise<string> =>
    (await contract.expect(t, 'admin_login', 200, { body: { email: OPERATOR_EMAIL, password: PASSWORD } })).body
      .challenge_token;
  const body = { challenge_token: await challenge(), code: codeOf(t, secret) };
  await contract.expect(t, 'admin_challenge', 200, { body });

  await contract.expect(t, 'admin_trusted_devices_list', 200, { token: (await guard.startSession(1)).accessToken });
  await contract.expect(t, 'admin_trusted_device_forget', 204, {
    token: (await guard.startSession(1)).accessToken,
    params: UNKNOWN_PARAMS,
  });
  await contract.expect(t, 'admin_trusted_devices_forget_all', 204, {
    token: (await guard.startSession(1)).accessToken,
  });
  await checkOperatorEnrolment(t, contract);

  const wrong = { challenge_token: await challenge(), code: '000000' };
  for (const status of [422, 422, 423]) await contract.expect(t, 'admin_challenge', status, { body: wrong });
  const { accessToken } = await guard.startSession(1);
  const guess = { token: accessToken, body: { password: 'wrong' } };
  for (const status of [422, 422, 423]) await contract.expect(t, 'admin_confirm_password', status, guess);
  const login = { body: { email: OPERATOR_EMAIL, password: 'wrong' } };
  for (const status of [422, 422, 423]) await contract.expect(t, 'admin_login', status, login);
}

/** Checks the enrolment of an operator who must have a second factor, and its lock after two failures. */
async function checkOperatorEnrolment(t: TestApp, contract: DocumentChecker): Promise<void> {
  const lead = 'lead@example.com';
  await t.person(lead, 'admin');
  const begin = async (): Promise<string> =>
    (await contract.expect(t, 'admin_login', 200, { body: { email: lead, password: PASSWORD } })).body.enrolment_token;
  const enrolment_token = await begin();
  const { body } = await contract.expect(t, 'admin_enrolment_start', 200, { body: { enrolment_token } });
  const code = codeOf(t, secretIn(body.otpauth_uri));
  await contract.expect(t, 'admin_enrolment_confirm', 200, { body: { enrolment_token, code } });
  await t.auth.guard('admin').twoFactor.disable('2');
  const wrong = { body: { enrolment_token: await begin(), code: '000000' } };
  for (const status of [422, 422, 423]) await contract.expect(t, 'admin_enrolment_confirm', status, wrong);
}
