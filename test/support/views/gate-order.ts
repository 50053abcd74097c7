import type { TestApp } from '../hosts/app';
import { CONFIRMATION_HEADER, confirmPassword } from '../flows/step-up';
import { userProvidersOf } from '../stores/user-reads';

/**
 * Requires that a route with all gates checks them in their order: authentication, ability, rate limit, confirmation,
 * verified email. Its limiter admits one request with the same header `Round`.
 */
export async function expectGateOrder(t: TestApp, path: string): Promise<void> {
  let verified = false;
  for (const users of userProvidersOf(t)) jest.spyOn(users, 'isEmailVerified').mockImplementation(() => verified);
  const session = async (abilities: string[]): Promise<string> =>
    (await t.auth.startSession(1, {}, abilities)).accessToken;
  const [poor, rich] = [await session(['svc.account']), await session(['a', 'svc.account'])];
  const { confirmation_token: proof } = (await confirmPassword(t, rich).expect(200)).body;
  let n = 0;
  const call = (token?: string, header?: string, which = String(n++)) => {
    const request = t.http.post(path).set('Round', which);
    if (token) request.set('Authorization', `Bearer ${token}`);
    return header ? request.set(CONFIRMATION_HEADER, header) : request;
  };

  // Refused by an earlier gate, so that the limiter counts none of these requests.
  for (let i = 0; i < 2; i++) await call(undefined, undefined, 'same').expect(401);
  for (let i = 0; i < 2; i++) await call(poor, proof, 'same').expect(403);
  await call(rich, undefined, 'same').expect(423);
  await call(rich, undefined, 'same').expect(429);
  await call(rich, proof, 'same').expect(429);
  await call(rich).expect(423);
  await call(rich, proof).expect(409);
  verified = true;
  await call(rich, proof).expect(201);
}
