import type { Response } from 'supertest';
import { UNLIMITED } from '../support/hosts/host.module';
import { member, membersForFile } from '../support/hosts/members';
import { CONFIRMATION_HEADER, confirmPassword, confirmationTokenOf } from '../support/flows/step-up';
import { codeOf, completeChallenge, secretIn, startChallenge } from '../support/flows/two-factor';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const TEXT = 'This code, or a newer one, was already used. Please wait for the next code.';
const USED = { message: TEXT, errors: { code: [TEXT] } };

const { t } = membersForFile({
  features: { twoFactor: true, lockout: true },
  lockout: { maxAttempts: 3 },
  confirm: { factors: 'all' },
  rateLimits: {
    ...UNLIMITED,
    twoFactor: { maxAttempts: 4 },
    limiters: { 'svc-2fa': () => [], 'svc-2fa-confirm': () => [] },
  },
});
let token: string;
let proof: string;
let secret: string;

const confirm = (code: string) =>
  t.call('post', '/auth/two-factor/confirm', token).set(CONFIRMATION_HEADER, proof).send({ code });
const challenge = async (code: string): Promise<Response> =>
  completeChallenge(t, { challenge_token: await startChallenge(t), code });
const stepUp = (code: string) => confirmPassword(t, token, { password: PASSWORD, code });
/** The counters that count a failure. */
const counted = (): Promise<object[]> =>
  t.database.query('SELECT purpose, subject FROM svc_lockouts WHERE attempts > 0 OR locked_at IS NOT NULL');

/** The code that has just enrolled. */
let used: string;
beforeEach(async () => {
  // No step of 30 seconds begins between the enrolment and the end of a test.
  t.clock.stop();
  const id = await member(t, ADA, { emailVerifiedAt: new Date() });
  token = (await t.auth.startSession(id, { amr: ['pwd'] })).accessToken;
  proof = await confirmationTokenOf(t, token);
  const started = t.call('post', '/auth/two-factor', token).set(CONFIRMATION_HEADER, proof);
  secret = secretIn((await started.expect(200)).body.otpauth_uri);
  used = codeOf(t, secret);
  await confirm(used).expect(204);
});

/** Where a code of the authenticator is sent. */
const PLACES: [place: string, send: (code: string) => PromiseLike<Response>, right: number][] = [
  ['the confirmation of an enrolment', confirm, 204],
  ['a login', challenge, 200],
  ['a step-up', stepUp, 200],
];

describe.each(PLACES)('the code that enrolled, sent to %s', (_, send, right) => {
  it('is refused with the advice to wait for the next one, which is accepted', async () => {
    expect((await send(used)).body).toEqual(USED);
    expect((await send(` ${used.slice(0, 3)} ${used.slice(3)}.`)).body).toEqual(USED);
    t.clock.advance(30);
    // It stays used while the window accepts its step.
    expect((await send(used)).body).toEqual(USED);
    expect((await send(codeOf(t, secret))).status).toBe(right);
  });

  it('is no failure, however often', async () => {
    for (let i = 0; i < 6; i++) expect((await send(used)).body).toEqual(USED);
    expect(await counted()).toEqual([]);
    t.clock.advance(30);
    expect((await send(codeOf(t, secret))).status).toBe(right);
  });
});

describe('a used code', () => {
  it('is also one whose step is before that of the last accepted one', async () => {
    t.clock.advance(60);
    expect((await challenge(codeOf(t, secret))).status).toBe(200);
    expect((await challenge(codeOf(t, secret, -1))).body).toEqual(USED);
  });

  it('keeps the challenge, and resets no count of failures', async () => {
    const challenge_token = await startChallenge(t);
    const answer = (code: string) => completeChallenge(t, { challenge_token, code });
    for (const code of ['000000', used, '000000', used, '000000']) await answer(code).expect(422);
    t.clock.advance(30);
    await answer(codeOf(t, secret)).expect(423);
    // A lock refuses before the code is looked at.
    await answer(codeOf(t, secret, -1)).expect(423);
    await t.database.query('DELETE FROM svc_lockouts');
    await answer('000000').expect(422);
    // The limit on failures, too.
    await answer(codeOf(t, secret, -1)).expect(429);
  });

  it('is a wrong code for another user, and beside a wrong password', async () => {
    const bob = await member(t, 'bob@example.com', { emailVerifiedAt: new Date() });
    await t.auth.twoFactor.importFactor(bob, { secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' });
    const challenge_token = await startChallenge(t, 'bob@example.com');
    const { body } = await completeChallenge(t, { challenge_token, code: used }).expect(422);
    expect(body.message).toBe('The code is not correct.');
    const wrong = await confirmPassword(t, token, { password: 'wrong', code: used }).expect(422);
    expect(Object.keys(wrong.body.errors)).toEqual(['password']);
  });
});
