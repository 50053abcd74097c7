import { EmailChangeUndone, EmailChanged } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import type { Tokens } from '../support/hosts/app';
import { EMAIL_CHANGE, RESET_URL, linkIn } from '../support/hosts/members';
import { ORIGIN } from '../support/flows/passkeys';
import { type Flow, NEXT, chosen, statuses } from './flow';
import { Account, type Call, type Node } from './nodes';

/** The life of an account. */
export function accountFlows(flow: Flow): void {
  const { nodes } = flow;

  /** The token in the link of a mail. */
  const tokenOf = async (address: string, page: string): Promise<string> =>
    linkIn(await nodes.mailTo(address, page)).searchParams.get('token')!;

  it('registration: the other node knows the account, and verifies its address', async () => {
    const { a, b } = flow;
    const newcomer = new Account();
    const body = { name: 'Bob', email: newcomer.email, ...chosen(newcomer.password) };
    const { access_token: token } = await newcomer.call(a, 200, { path: '/auth/register', body });
    await newcomer.guarded(b, token!);
    await newcomer.call(b, 422, { path: '/auth/register', body });
    const { pathname, search } = linkIn(await nodes.mailbox.to(newcomer.email));
    const state = 'SELECT email_verified_at IS NOT NULL AS verified FROM members WHERE email = $1';
    expect(await b.t.database.query(state, [newcomer.email])).toEqual([{ verified: false }]);
    const { status } = await fetch((await b.t.app.getUrl()) + pathname + search, {
      headers: { Accept: 'application/json' },
      redirect: 'manual',
    });
    expect([204, 302]).toContain(status);
    expect(await a.t.database.query(state, [newcomer.email])).toEqual([{ verified: true }]);
  });

  it('registration with a passkey: the other node completes it, and it makes one account, also at the same time', async () => {
    const { a, b } = flow;
    const newcomer = new Account();
    const fields = { name: 'Grace', email: newcomer.email };
    const complete = async (node: Node, device: SoftAuthenticator): Promise<Call> => {
      const begun = await newcomer.call(node, 200, { path: '/auth/register/passkey/options', body: fields });
      const credential = device.create(begun.options as never);
      return { path: '/auth/register/passkey', body: { ...fields, ceremony_id: begun.ceremony_id, credential } };
    };
    const devices = [new SoftAuthenticator(ORIGIN), new SoftAuthenticator(ORIGIN)] as const;
    // The ceremony of a node is completed on the other one.
    const [second, first] = [await complete(a, devices[1]), await complete(b, devices[0])];
    const answers = await flow.atOnce(first, second, newcomer);
    expect(statuses(answers)).toEqual([200, 422]);
    const at = answers.findIndex(({ status }) => status === 200);
    await flow.expectLiving(answers[at]!.body.access_token!);
    const rows = await a.t.database.query(
      `SELECT 1 FROM members m LEFT JOIN svc_passkeys p ON p.user_id = m.id::text WHERE m.email = $1`,
      [newcomer.email],
    );
    expect(rows).toHaveLength(1);
    const begun = await newcomer.call(a, 200, { path: '/auth/passkeys/login-options' });
    const body = { ceremony_id: begun.ceremony_id, credential: devices[at]!.get(begun.options as never) };
    await newcomer.call(b, 200, { path: '/auth/passkeys/login', body });
  });

  it('confirmation: the other node accepts it, for its session only', async () => {
    const { a, b, user } = flow;
    const { access_token: token } = await user.session(a);
    const proof = await user.confirm(a, token);
    const data = { method: 'GET', path: '/auth/account/export', token } as const;
    await user.call(b, 423, data);
    expect(await user.call(b, 200, { ...data, proof })).toMatchObject({ account: { identifier: user.email } });
    const { access_token: another } = await user.session(b);
    await user.call(a, 423, { ...data, token: another, proof });
  });

  it('forgotten password: the other node accepts the link, once, and every session ends', async () => {
    const { a, b, user } = flow;
    const session = await user.session(a);
    await user.call(a, 200, { path: '/auth/forgot-password', body: { email: user.email } });
    const token = await tokenOf(user.email, RESET_URL);
    await flow.once(200, { path: '/auth/reset-password', body: { email: user.email, token, ...chosen() } });
    await flow.expectEnded(session);
    await user.login(a, 422);
    await user.login(b, 200, NEXT);
  });

  it('change of the password: every other session ends on both nodes', async () => {
    const { a, b, user } = flow;
    const [own, other] = [await user.session(a), await user.session(b)];
    const body = { current_password: user.password, ...chosen() };
    await user.call(a, 200, { path: '/auth/password', body, token: own.access_token });
    await flow.expectEnded(other);
    await user.guarded(b, own.access_token);
    await user.login(b, 422);
    await user.login(b, 200, NEXT);
  });

  it('change of the address: it is requested, made and undone on different nodes, once, also at the same time', async () => {
    const { a, b, user } = flow;
    const [own, other] = [await user.session(a), await user.session(b)];
    const proof = await user.confirm(b, own.access_token);
    const { email } = new Account();
    await user.call(a, 202, { path: '/auth/email/change', body: { email }, token: own.access_token, proof });
    const [changed, undone] = [nodes.recorded(EmailChanged), nodes.recorded(EmailChangeUndone)];
    const ofUser = (events: { userId: string }[]): object[] => events.filter(({ userId }) => userId === user.id);
    const confirm = {
      path: '/auth/email/change/confirm',
      body: { token: await tokenOf(email, EMAIL_CHANGE.confirmUrl) },
    };
    expect(statuses(await flow.atOnce(confirm))).toEqual([200, 200]);
    await flow.expectEnded(other);
    await flow.expectLiving(own.access_token);
    await user.login(b, 422);
    const login = { path: '/auth/login', body: { email, password: user.password } };
    const next = (await user.call(b, 200, login)) as unknown as Tokens;
    const undo = { path: '/auth/email/change/undo', body: { token: await tokenOf(user.email, EMAIL_CHANGE.undoUrl) } };
    expect(statuses(await flow.atOnce(undo))).toEqual([200, 200]);
    for (const session of [own, next]) await flow.expectEnded(session);
    for (const node of nodes.all) await user.login(node, 422);
    await user.call(a, 422, confirm);
    const reset = { email: user.email, token: await tokenOf(user.email, RESET_URL), ...chosen() };
    await user.call(b, 200, { path: '/auth/reset-password', body: reset });
    await user.login(a, 200, NEXT);
    await user.call(b, 422, login);
    expect([ofUser(changed), ofUser(undone)].map(({ length }) => length)).toEqual([1, 1]);
    for (const url of [EMAIL_CHANGE.undoUrl, RESET_URL]) expect(nodes.mailsTo(user.email, url)).toHaveLength(1);
  });

  it('deletion: after it both nodes refuse the account', async () => {
    const { a, b, user } = flow;
    const [session, other] = [await user.session(a), await user.session(b)];
    const proof = await user.confirm(a, session.access_token);
    await user.call(a, 204, { method: 'DELETE', path: '/auth/account', token: session.access_token, proof });
    await flow.expectEnded(session);
    await flow.expectEnded(other);
    await user.login(b, 422);
  });
}
