import type { AuthModuleOptions } from '@svc/auth';
import type { Type } from '@nestjs/common';
import { codeAt, fromBase32, secretIn, stepOf as stepAt } from './totp';
import { TestApp, type TestAppOptions } from '../hosts/app';
import { CONFIRMATION_HEADER, confirmationTokenOf } from './step-up';
import { ADA, PASSWORD } from '../hosts/user-entities';

export { ADA };

/** A host with two-factor authentication and the user ada. */
export async function startTwoFactor(
  options: Partial<AuthModuleOptions> = {},
  stores: { redisUrl?: string; databaseUrl?: string; controllers?: Type[] } = {},
): Promise<TestApp> {
  const features = { twoFactor: true, ...options.features };
  const t = await TestApp.start({ options: { ...options, features }, ...stores });
  await t.person(ADA);
  return t;
}

/** The same host for a whole file, or for a `describe` block: see {@link TestApp.forFile}. */
export function twoFactorForFile(options: Partial<AuthModuleOptions> = {}, more: TestAppOptions = {}): TestApp {
  const features = { twoFactor: true, ...options.features };
  const t = TestApp.forFile({ options: { ...options, features }, ...more });
  beforeEach(async () => void (await t.person(ADA)));
  return t;
}

/** The same host. Ada enrols before each test. */
export function enrolledForFile(
  options: Partial<AuthModuleOptions> = {},
  more: TestAppOptions = {},
): { t: TestApp; ada: Enrolled } {
  const t = twoFactorForFile(options, more);
  const ada = {} as Enrolled;
  beforeEach(async () => void Object.assign(ada, await enrol(t)));
  return { t, ada };
}

export { codeAt, fromBase32, secretIn };

export const currentStep = (t: TestApp): number => stepAt(t.clock);

/** The code of the user's app, `ahead` steps from now. */
export const codeOf = (t: TestApp, secret: string, ahead = 0): string => codeAt(secret, currentStep(t) + ahead);

/** A request with a confirmation token. */
export const asConfirmed = (t: TestApp, method: 'post' | 'delete', path: string, token: string, proof: string) =>
  t.call(method, path, token).set(CONFIRMATION_HEADER, proof);

export interface Enrolled {
  secret: string;
  recoveryCodes: string[];
  /** A session from before the enrolment, and its confirmation token. */
  token: string;
  proof: string;
}

/** Enrols over HTTP and advances the clock, so that the enrolment code is no longer current. */
export async function enrol(t: TestApp, email = ADA): Promise<Enrolled> {
  const { access_token: token } = await t.session(email);
  const proof = await confirmationTokenOf(t, token);
  const { body } = await asConfirmed(t, 'post', '/auth/two-factor', token, proof).expect(200);
  const secret = secretIn(body.otpauth_uri);
  const confirm = asConfirmed(t, 'post', '/auth/two-factor/confirm', token, proof);
  await confirm.send({ code: codeOf(t, secret) }).expect(204);
  t.clock.advance(30);
  return { secret, recoveryCodes: body.recovery_codes, token, proof };
}

/** The challenge that follows a correct password. */
export async function startChallenge(t: TestApp, email = ADA, guard = 'api'): Promise<string> {
  const { body } = await t.login(email, PASSWORD, guard).expect(200);
  return body.challenge_token;
}

export const completeChallenge = (t: TestApp, body: object, guard = 'api') =>
  t.http.post(`${t.paths[guard]}/two-factor-challenge`).send(body);
