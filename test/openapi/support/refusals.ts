import { type AuthModuleOptions, SecurityStore, StoreUnavailable } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { onFastify } from '../../support/hosts/adapter';
import type { TestApp } from '../../support/hosts/app';
import type { DocumentChecker, DescribedOperation } from './document-checker';

/** Path parameters that match no record. */
export const UNKNOWN_PARAMS = {
  svcSession: randomUUID(),
  svcKnownDevice: randomUUID(),
  svcPasskey: 'none',
  svcDevice: 'none',
  id: 'none',
  hash: 'none',
};

const BROKEN = {
  svcSession: '%E0',
  svcKnownDevice: '%E0',
  svcPasskey: '%E0',
  svcDevice: '%E0',
  id: '%E0',
  hash: 'none',
};

const isOpen = ({ security }: DescribedOperation): boolean => security.length === 0;
const guardOf = ({ id }: DescribedOperation): 'admin' | 'api' => (id.startsWith('admin') ? 'admin' : 'api');

/** An access token of the first user of each guard. */
async function accessTokens(t: TestApp, abilities?: string[]): Promise<Record<'admin' | 'api', string>> {
  const [{ id }] = await t.database.query('SELECT id FROM members LIMIT 1');
  return {
    api: (await t.auth.startSession(id, {}, abilities)).accessToken,
    admin: (await t.auth.guard('admin').startSession(1, {}, abilities)).accessToken,
  };
}

/** Expects 401 from every operation that is not open. */
export async function checkUnauthenticated(t: TestApp, contract: DocumentChecker): Promise<void> {
  for (const { id } of contract.operations.filter((op) => !isOpen(op))) {
    await contract.expect(t, id, 401, { params: UNKNOWN_PARAMS });
    await contract.expect(t, id, 401, { params: UNKNOWN_PARAMS, token: 'none' });
  }
}

/** A body above the default limit of either adapter. */
const LARGE = JSON.stringify('x'.repeat(onFastify ? 1024 * 1024 : 200_000));

/** Expects 400, 413 and 415 from every operation, before any other check. */
export async function checkUnreadableBodies(t: TestApp, contract: DocumentChecker): Promise<void> {
  const json = { 'Content-Type': 'application/json' };
  const unsupported = { 'Content-Type': 'text/plain' };
  for (const { id, method, path } of contract.operations) {
    if (path.includes('{')) await contract.expect(t, id, 400, { params: BROKEN });
    if (method === 'get' || method === 'head') continue;
    await contract.expect(t, id, 400, { params: UNKNOWN_PARAMS, body: '{', headers: json });
    await contract.expect(t, id, 413, { params: UNKNOWN_PARAMS, body: LARGE, headers: json });
    await contract.expect(t, id, 415, { params: UNKNOWN_PARAMS, body: '{}', headers: unsupported });
  }
}

/** Expects 423 without a confirmation and with a confirmation of another session. */
export async function checkUnconfirmed(
  t: TestApp,
  contract: DocumentChecker,
  token: string,
  proof: string,
): Promise<void> {
  const confirmed = contract.operations.filter(({ security: [first = {}] }) => 'api_confirmation' in first);
  expect(confirmed.length).toBeGreaterThan(8);
  for (const { id } of confirmed) {
    await contract.expect(t, id, 423, { params: UNKNOWN_PARAMS, token });
    const { body } = await contract.expect(t, id, 423, { params: UNKNOWN_PARAMS, token, proof });
    expect(body).toHaveProperty('reason');
  }
}

/** Expects 403 for a session that is pinned to no ability. */
export async function checkPinned(t: TestApp, contract: DocumentChecker): Promise<void> {
  const tokens = await accessTokens(t, []);
  for (const op of contract.operations.filter((described) => !isOpen(described) && '403' in described.responses))
    await contract.expect(t, op.id, 403, { params: UNKNOWN_PARAMS, token: tokens[guardOf(op)] });
}

/** Expects 422 with an error for the field that does not match its documented schema. */
export async function checkInvalidFields(
  t: TestApp,
  contract: DocumentChecker,
  token: string,
  proof: string,
): Promise<void> {
  const tokens = { ...(await accessTokens(t)), api: token };
  for (const op of contract.operations.filter(({ id, body }) => body && !id.endsWith('_refresh'))) {
    const { required = [], properties } = op.body!;
    const send = async (body: object, field: string): Promise<void> => {
      const sent = { params: UNKNOWN_PARAMS, token: tokens[guardOf(op)], proof, body };
      const answer = await contract.expect(t, op.id, 422, sent);
      expect({ id: op.id, body, errors: Object.keys(answer.body.errors) }).toMatchObject({
        errors: expect.arrayContaining([field]),
      });
    };
    for (const [field, { maxLength }] of Object.entries(properties)) {
      // An error of the repeated password is reported under `password`.
      if (field === 'password_confirmation') continue;
      await send({ [field]: 1 }, field);
      if (maxLength) await send({ [field]: 'x'.repeat(Number(maxLength) + 1) }, field);
      if (required.includes(field)) await send({}, field);
    }
  }
}

const oneAttempt = { maxAttempts: 1 };

/** Limits of one attempt each; for logins one failure and two requests. */
export const ONE_EACH: AuthModuleOptions['rateLimits'] = {
  login: { ...oneAttempt, ipMaxAttempts: 2 },
  refresh: oneAttempt,
  confirm: oneAttempt,
  twoFactor: oneAttempt,
  passkeys: oneAttempt,
  registration: oneAttempt,
  passwordReset: oneAttempt,
  emailVerification: oneAttempt,
  emailChange: oneAttempt,
  mailedLinks: oneAttempt,
  usernameChange: oneAttempt,
  emailCode: oneAttempt,
};

/** Expects 429 under the limits of {@link ONE_EACH}. */
export async function checkRateLimits(t: TestApp, contract: DocumentChecker, email: string): Promise<void> {
  const tokens = await accessTokens(t);
  for (const op of contract.operations.filter(({ responses }) => '429' in responses)) {
    expect(op.responses[429]!.headers).toHaveProperty(['Retry-After', 'required'], true);
    const sent = {
      params: UNKNOWN_PARAMS,
      token: tokens[guardOf(op)],
      ...(op.body && { body: { email, password: 'wrong' } }),
    };
    const [, second] = [await contract.send(t, op.id, sent), await contract.send(t, op.id, sent)];
    if (/^(api|admin)_login$/.test(op.id)) expect(second.body).toHaveProperty('errors.email');
    await contract.expect(t, op.id, 429, sent);
  }
}

/** Expects 503 from every operation that reads the security store. */
export async function checkStoreOutage(t: TestApp, contract: DocumentChecker): Promise<void> {
  const tokens = await accessTokens(t);
  for (const method of ['getMany', 'count'] as const)
    jest.spyOn(t.app.get(SecurityStore), method).mockRejectedValue(new StoreUnavailable('Redis'));
  for (const op of contract.operations.filter(({ responses }) => '503' in responses))
    await contract.expect(t, op.id, 503, { params: UNKNOWN_PARAMS, token: tokens[guardOf(op)] });
  jest.restoreAllMocks();
}
