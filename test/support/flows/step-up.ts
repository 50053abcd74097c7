import type { AuthModuleOptions } from '@svc/auth';
import type { Type } from '@nestjs/common';
import { TestApp } from '../hosts/app';
import { HostController } from '../hosts/host.module';
import { ADA, PASSWORD, VerifiablePerson } from '../hosts/user-entities';

export { ADA };

export const CONFIRMATION_HEADER = 'X-Svc-Confirmation';

/** A host with two users and an operator. Their ids are 1, 2 and 1. */
export async function startStepUp(
  options: Partial<AuthModuleOptions> = {},
  controllers: Type[] = [],
): Promise<TestApp> {
  const t = await TestApp.start({
    options,
    controllers: [HostController, ...controllers],
    entities: [VerifiablePerson],
  });
  await addPeople(t);
  return t;
}

/** The same host for a whole file, or for a `describe` block: see {@link TestApp.forFile}. */
export function stepUpForFile(options: Partial<AuthModuleOptions> = {}, controllers: Type[] = []): TestApp {
  const t = TestApp.forFile({
    options,
    controllers: [HostController, ...controllers],
    entities: [VerifiablePerson],
  });
  beforeEach(() => addPeople(t));
  return t;
}

async function addPeople(t: TestApp): Promise<void> {
  await t.person(ADA);
  await t.person('bob@example.com');
  await t.person('root@example.com', 'admin');
}

export const confirmPassword = (t: TestApp, token: string, body: object = { password: PASSWORD }, guard = 'api') =>
  t.call('post', `${t.paths[guard]}/confirm-password`, token).send(body);

/** A new confirmation token for the session of `token`. */
export const confirmationTokenOf = async (t: TestApp, token: string, guard = 'api'): Promise<string> =>
  (await confirmPassword(t, token, undefined, guard).expect(200)).body.confirmation_token;
