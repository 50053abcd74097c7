import type { TestApp } from '../hosts/app';
import { codeOf, secretIn } from './two-factor';
import { ADA, PASSWORD } from '../hosts/user-entities';

/** The token that a correct password is answered with, while `twoFactor.required` applies. */
export async function enrolmentToken(t: TestApp, email = ADA, guard = 'api'): Promise<string> {
  const { body } = await t.login(email, PASSWORD, guard).expect(200);
  return body.enrolment_token;
}

/** A request to a route below `/two-factor-enrolment`. */
export const enrolment = (t: TestApp, path: string, body: object, guard = 'api') =>
  t.http.post(`${t.paths[guard]}/two-factor-enrolment${path}`).send(body);

/** Starts the enrolment of an authenticator, and returns its secret. */
export async function startEnrolment(t: TestApp, enrolment_token: string, guard = 'api'): Promise<string> {
  const { body } = await enrolment(t, '', { enrolment_token }, guard).expect(200);
  return secretIn(body.otpauth_uri);
}

/** The request that completes the enrolment of an authenticator. */
export const confirmEnrolment = (t: TestApp, enrolment_token: string, secret: string, guard = 'api') =>
  enrolment(t, '/confirm', { enrolment_token, code: codeOf(t, secret) }, guard);
