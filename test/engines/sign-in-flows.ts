import { SignInReported } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { type Tokens, claimsOf } from '../support/hosts/app';
import { codeIn, otherCode } from '../support/flows/email-code';
import { REPORT_URL } from '../support/flows/known-devices';
import { RESET_URL, linkIn } from '../support/hosts/members';
import { ORIGIN } from '../support/flows/passkeys';
import { secretIn } from '../support/flows/totp';
import { type Flow, NEXT, STAFF, chosen, statuses } from './flow';
import type { Account, Call, Node } from './nodes';

/** The page of the link in the mail of a code. */
export const CODE_URL = 'https://app.example.test/code';

const GUESSES = 5;

const tokenIn = (mail: { text: string }): string => linkIn(mail as never).searchParams.get('token')!;

/** Sign-ins without a second factor: mailed codes, passkeys and new devices. */
export function signInFlows(flow: Flow): void {
  const { nodes } = flow;

  /** Requests a code, and returns the request that sends it. The number is that of the mail. */
  async function mailedCode(node: Node, number = 1): Promise<Call & { body: { code_token: string; code: string } }> {
    const { email } = flow.user;
    const { code_token } = await flow.user.call(node, 202, { path: '/auth/login/code', body: { email } });
    const code = codeIn(await nodes.mailTo(email, CODE_URL, number));
    return { path: '/auth/login/code/verify', body: { code_token: code_token!, code } };
  }

  it('mailed code: a code of one node signs in on the other, once, also at the same time', async () => {
    const { a, b, user } = flow;
    const sent = await mailedCode(a);
    const { access_token: token } = await user.call(b, 200, sent);
    await user.guarded(a, token!);
    await user.call(a, 422, sent);
    const { access_token: another } = await flow.once(200, await mailedCode(b, 2));
    await flow.expectLiving(another!);
  });

  it('mailed code: a new password, or an end of all sessions, on one node ends the code of the other', async () => {
    const { a, b, user } = flow;
    const { access_token: token } = await user.session(a);
    const first = await mailedCode(a);
    await user.call(b, 204, { method: 'DELETE', path: '/auth/sessions', token });
    await user.call(a, 422, first);
    const { access_token: next } = await user.session(a);
    const second = await mailedCode(b, 2);
    await user.call(a, 200, {
      path: '/auth/password',
      body: { current_password: user.password, ...chosen() },
      token: next,
    });
    await user.call(b, 422, second);
  });

  it('mailed code: both nodes count the guesses together, also at the same time', async () => {
    const { a, b, user } = flow;
    const right = await mailedCode(a);
    const wrong = { ...right, body: { ...right.body, code: otherCode(right.body.code) } };
    const guesses = Array.from({ length: GUESSES }, (_, i) => user.ask(i % 2 ? a : b, wrong));
    expect(new Set(statuses(await Promise.all(guesses)))).toEqual(new Set([422]));
    await user.call(b, 422, right);
  });

  it('passkey: each step of a ceremony can be on the other node, and the ceremony is used once', async () => {
    const { a, b, user } = flow;
    const { access_token: token } = await user.session(a);
    const proof = await user.confirm(b, token);
    const authenticator = new SoftAuthenticator(ORIGIN);
    const creation = await user.call(a, 200, { path: '/auth/passkeys/registration-options', token, proof });
    const credential = authenticator.create(creation as never);
    await user.call(b, 204, { path: '/auth/passkeys', body: { credential }, token, proof });
    const begun = await user.call(a, 200, { path: '/auth/passkeys/login-options' });
    const body = { ceremony_id: begun.ceremony_id, credential: authenticator.get(begun.options as never) };
    const { access_token: another } = await flow.once(200, { path: '/auth/passkeys/login', body });
    await user.guarded(a, another!);
  });

  it('passkey after a login: the other node stores it, and one is stored, also at the same time', async () => {
    const { a, b, user } = flow;
    const begin = async (node: Node, of: Account, authenticator: SoftAuthenticator): Promise<Call> => {
      const { access_token: token } = await of.session(a);
      const creation = await of.call(node, 200, { path: '/auth/passkeys/conditional-options', token });
      const credential = authenticator.create(creation as never, { up: false, uv: false });
      return { path: '/auth/passkeys/conditional', body: { credential }, token: token! };
    };
    const authenticator = new SoftAuthenticator(ORIGIN);
    await user.call(a, 204, await begin(b, user, authenticator));
    const begun = await user.call(b, 200, { path: '/auth/passkeys/login-options' });
    const body = { ceremony_id: begun.ceremony_id, credential: authenticator.get(begun.options as never) };
    await user.call(a, 200, { path: '/auth/passkeys/login', body });
    const another = await flow.account();
    const store = await begin(a, another, new SoftAuthenticator(ORIGIN));
    await flow.once(204, store, store, another);
    await another.call(b, 422, { path: '/auth/passkeys/conditional-options', token: store.token! });
  });

  it('new device: one mail for sign-ins at the same time, and the report on the other node ends all sessions', async () => {
    const { a, b, user } = flow;
    const signIn = (node: Node, device?: string): Promise<Tokens & { device_token: string }> =>
      user.call(node, 200, { ...user.loginWith({}), ...(device && { device }) }) as never;
    const own = await signIn(a);
    expect(claimsOf((await signIn(b, own.device_token)).access_token).sub).toBe(user.id);
    // The token of another user makes no device known. The mail may still be due at the later sign-ins.
    const other = (await (await flow.account()).login(a)).device_token!;
    const first = await signIn(a, other);
    const all = [first, ...(await Promise.all([signIn(a, first.device_token), signIn(b, first.device_token)]))];
    const token = tokenIn(await nodes.mailTo(user.email, REPORT_URL));
    const reported = nodes.recorded(SignInReported);
    const report: Call = { path: '/auth/sessions/report', body: { token } };
    expect(statuses(await flow.atOnce(report))).toEqual([200, 200]);
    await nodes.mailTo(user.email, RESET_URL);
    await nodes.calm();
    expect(nodes.mailsTo(user.email, REPORT_URL)).toHaveLength(1);
    expect(nodes.mailsTo(user.email, RESET_URL)).toHaveLength(1);
    const events = reported.filter(({ userId }) => userId === user.id);
    expect(events).toHaveLength(1);
    expect(all.map(({ access_token }) => claimsOf(access_token).fid)).toContain(events[0]!.familyId);
    for (const session of [own, ...all]) await flow.expectEnded(session);
    const { access_token: later } = await signIn(b, own.device_token);
    const listed = await user.call(a, 200, { method: 'GET', path: '/auth/devices', token: later });
    expect(listed.data).toHaveLength(1);
  });
}

/** Sign-ins with a second factor. */
export function factorFlows(flow: Flow): void {
  const { nodes } = flow;
  const challenge = async (node: Node): Promise<string> => (await flow.user.login(node)).challenge_token!;
  const answer = (body: object): Call => ({ path: '/auth/two-factor-challenge', body });

  it('second factor: a code answers the challenge of the other node, once', async () => {
    const { a, b, user } = flow;
    const code = flow.codeOf((await flow.enrol()).secret);
    const { access_token: token } = await user.call(b, 200, answer({ challenge_token: await challenge(a), code }));
    await user.guarded(a, token!);
    await user.call(a, 422, answer({ challenge_token: await challenge(b), code }));
  });

  it('second factor: a challenge and a recovery code are used once, also at the same time', async () => {
    const { a, b } = flow;
    const codes = (await flow.enrol()).recoveryCodes.slice(0, 2);
    const token = await challenge(a);
    const [first, second] = codes.map((code) => answer({ challenge_token: token, recovery_code: code }));
    const answers = await flow.atOnce(first!, second!);
    expect(statuses(answers)).toEqual([200, 422]);
    const recovery_code = codes[answers.findIndex(({ status }) => status === 422)];
    const challenges = [await challenge(a), await challenge(b)];
    const [one, other] = challenges.map((challenge_token) => answer({ challenge_token, recovery_code }));
    await flow.once(200, one!, other!);
  });

  it('trusted device: the other node asks it for no code, until the password changes', async () => {
    const { a, b, user } = flow;
    const { secret } = await flow.enrol();
    const challenges = [await challenge(a), await challenge(b)];
    const [first, second] = challenges.map((challenge_token) =>
      answer({ challenge_token, code: flow.codeOf(secret), trust_device: true }),
    );
    // The challenge of a node is answered on the other one.
    const { access_token: token, trusted_device_token } = await flow.once(200, second!, first!);
    const devices = { method: 'GET', path: '/auth/trusted-devices', token: token! } as const;
    for (const node of nodes.all) {
      await user.call(node, 200, user.loginWith({ trusted_device_token })).then(hasSession);
      expect((await user.call(node, 200, devices)).data).toHaveLength(1);
    }
    const body = { current_password: user.password, ...chosen() };
    await user.call(a, 200, { path: '/auth/password', body, token: token! });
    for (const node of [b, a]) {
      const asked = await user.call(node, 200, user.loginWith({ trusted_device_token }, NEXT));
      expect(asked).toMatchObject({ two_factor: true });
      expect((await user.call(node, 200, devices)).data).toEqual([]);
    }
  });

  const enrolment = (path: string, body: object): Call => ({ path: `/auth/two-factor-enrolment${path}`, body });

  /** A user who must have a second factor, and the token to enrol one. */
  async function beginEnrolment(): Promise<{ user: Account; enrolment_token: string }> {
    const user = await flow.account(STAFF);
    return { user, enrolment_token: (await user.login(flow.a)).enrolment_token! };
  }

  /** Starts the enrolment of one-time passwords, and returns the request that completes it. */
  async function beginTotp(node: Node, user: Account, enrolment_token: string): Promise<Call> {
    const { otpauth_uri } = await user.call(node, 200, enrolment('', { enrolment_token }));
    return enrolment('/confirm', { enrolment_token, code: flow.codeOf(secretIn(otpauth_uri!)) });
  }

  /** Starts the enrolment of a passkey, and returns the request that completes it. */
  async function beginPasskey(node: Node, user: Account, enrolment_token: string): Promise<Call> {
    const options = await user.call(node, 200, enrolment('/passkey-options', { enrolment_token }));
    const credential = new SoftAuthenticator(ORIGIN).create(options as never);
    return enrolment('/passkey', { enrolment_token, credential });
  }

  it.each([
    ['one-time passwords', beginTotp, ['totp', 'recovery_code']],
    ['a passkey', beginPasskey, ['passkey']],
  ])('enrolment of %s: it is completed on the other node, once, also at the same time', async (_, begin, methods) => {
    const { a, b } = flow;
    const alone = await beginEnrolment();
    const complete = await begin(a, alone.user, alone.enrolment_token);
    await alone.user.call(b, 200, complete).then(hasSession);
    await alone.user.call(a, 422, complete);
    const { user, enrolment_token } = await beginEnrolment();
    const both = await begin(b, user, enrolment_token);
    const { access_token: token } = await flow.once(200, both, both, user);
    await flow.expectLiving(token!);
    for (const node of nodes.all) expect(await user.login(node)).toMatchObject({ two_factor: true, methods });
  });

  it('enrolment of both kinds from two logins at the same time: at most one factor is stored', async () => {
    const { a, b } = flow;
    const { user, enrolment_token } = await beginEnrolment();
    const totp = await beginTotp(b, user, enrolment_token);
    const passkey = await beginPasskey(a, user, (await user.login(b)).enrolment_token!);
    const answers = await flow.atOnce(totp, passkey, user);
    const completed = answers.findIndex(({ status }) => status === 200);
    // Each request may find the factor of the other one: then none is stored.
    expect(statuses(answers)).toEqual(completed < 0 ? [422, 422] : [200, 422]);
    const stored = [{ methods: ['totp', 'recovery_code'] }, { methods: ['passkey'] }][completed];
    for (const node of nodes.all) expect(await user.login(node)).toMatchObject(stored ?? { enrolment_required: true });
  });
}

const hasSession = (body: object): void => expect(body).toHaveProperty('access_token');
