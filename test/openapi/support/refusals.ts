import { type AuthModuleOptions, SecurityStore, StoreUnavailable } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { onFastify } from '../../support/adapter';
import type { TestApp } from '../../support/app';
import type { DocumentChecker, DescribedOperation } from './document-checker';

/** Paths that lead to nothing. */
export const UNKNOWN_PARAMS = { svcSession: randomUUID(), svcPasskey: 'none', id: 'none', hash: 'none' };

const BROKEN = { svcSession: '%E0', svcPasskey: '%E0', id: '%E0', hash: 'none' };

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

/** 401 for every operation that is not open. */
export async function checkUnauthenticated(t: TestApp, contract: DocumentChecker): Promise<void> {
  for (const { id } of contract.operations.filter((op) => !isOpen(op))) {
    await contract.expect(t, id, 401, { params: UNKNOWN_PARAMS });
    await contract.expect(t, id, 401, { params: UNKNOWN_PARAMS, token: 'none' });
  }
}

/** More than an adapter takes by itself. */
const LARGE = JSON.stringify('x'.repeat(onFastify ? 1024 * 1024 : 200_000));

/** 400, 413 and 415, whatever else the request is. */
export async function checkUnreadableBodies(t: TestApp, contract: DocumentChecker): Promise<void> {
  const json = { 'Content-Type': 'application/json' };
  // Express leaves other types alone, and Fastify encodings.
  const strange = onFastify ? { 'Content-Type': 'text/none' } : { ...json, 'Content-Encoding': 'none' };
  for (const { id, method, path } of contract.operations) {
    if (path.includes('{')) await contract.expect(t, id, 400, { params: BROKEN });
    if (method === 'get' || method === 'head') continue;
    await contract.expect(t, id, 400, { params: UNKNOWN_PARAMS, body: '{', headers: json });
    await contract.expect(t, id, 413, { params: UNKNOWN_PARAMS, body: LARGE, headers: json });
    await contract.expect(t, id, 415, { params: UNKNOWN_PARAMS, body: '{}', headers: strange });
  }
}

/** 423 without a proof and with one that another session earned. */
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

/** 403 to a session that is pinned to nothing. */
export async function checkPinned(t: TestApp, contract: DocumentChecker): Promise<void> {
  const tokens = await accessTokens(t, []);
  for (const op of contract.operations.filter((one) => !isOpen(one) && '403' in one.responses))
    await contract.expect(t, op.id, 403, { params: UNKNOWN_PARAMS, token: tokens[guardOf(op)] });
}

/** 422 under the field that breaks what the document says of it. */
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
      // How a password is repeated is told of the password.
      if (field === 'password_confirmation') continue;
      await send({ [field]: 1 }, field);
      if (maxLength) await send({ [field]: 'x'.repeat(Number(maxLength) + 1) }, field);
      if (required.includes(field)) await send({}, field);
    }
  }
}

const one = { maxAttempts: 1 };

/** One attempt each; of logins one failure, and two requests. */
export const ONE_EACH: AuthModuleOptions['rateLimits'] = {
  login: { ...one, ipMaxAttempts: 2 },
  refresh: one,
  confirm: one,
  twoFactor: one,
  passkeys: one,
  registration: one,
  passwordReset: one,
  emailVerification: one,
};

/** 429 where {@link ONE_EACH} holds. */
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

/** 503 wherever the security store is asked. */
export async function checkStoreOutage(t: TestApp, contract: DocumentChecker): Promise<void> {
  const tokens = await accessTokens(t);
  for (const method of ['getMany', 'count'] as const)
    jest.spyOn(t.app.get(SecurityStore), method).mockRejectedValue(new StoreUnavailable('Redis'));
  for (const op of contract.operations.filter(({ responses }) => '503' in responses))
    await contract.expect(t, op.id, 503, { params: UNKNOWN_PARAMS, token: tokens[guardOf(op)] });
  jest.restoreAllMocks();
}
