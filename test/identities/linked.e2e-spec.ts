import { PasskeyRemoved, SessionEnded } from '@svc/auth';
import { IdentityLinked, IdentityUnlinked } from '@svc/auth/identities';
import { SoftAuthenticator } from '@svc/auth/testing';
import { Client } from 'pg';
import type { Tokens } from '../support/hosts/app';
import { claimsOf } from '../support/hosts/app';
import { whileStatementsFail } from '../support/faults/failing-statements';
import { IdentityHost, LIVE, OVER, REFUSED } from '../support/flows/identities';
import { ORIGIN, PASSKEYS } from '../support/flows/passkeys';
import { confirmationTokenOf } from '../support/flows/step-up';
import { member } from '../support/hosts/members';
import { eventually } from '../support/runtime/eventually';

const ADA = 'ada@example.org';
const AT_OTHER = { sub: 'other-1', email: 'ada@other.test', email_verified: true };
const LAST = {
  message:
    'This is the only way in which you can sign in. Set a password, add a passkey or link another sign-in first.',
};

describe('the identities of an account', () => {
  const host = IdentityHost.forFile({
    ...PASSKEYS,
    rateLimits: { confirm: { maxAttempts: 100 }, identities: { maxAttempts: 1000 } },
    mail: { notices: true },
    storeTimeoutMs: 20_000,
  });
  const { t } = host;
  const rows = () => t.database.query('SELECT user_id, subject FROM svc_identities ORDER BY linked_at');

  /** A member with a password, who has confirmed it. */
  async function withPassword(email = ADA): Promise<Tokens & { proof: string; id: string }> {
    const id = await member(t, email, { emailVerifiedAt: new Date() } as never);
    const session = await t.session(email);
    return { ...session, id, proof: await confirmationTokenOf(t, session.access_token) };
  }

  const linkedTo = async (ada: Tokens & { proof: string }) => (await host.link(ada, ada.proof, AT_OTHER)).body.id;
  const unlink = (session: Tokens, proof: string, id: string) =>
    host.call('delete', `identities/${id}`, session, proof);

  it('are listed, linked and used to sign in', async () => {
    const ada = await withPassword();
    const linked = t.recorded(IdentityLinked);
    const { status, body } = await host.link(ada, ada.proof, AT_OTHER);
    const shown = {
      id: expect.any(String),
      provider: 'other',
      email: 'ada@other.test',
      last_used_at: null,
      can_confirm: true,
    };
    expect([status, body]).toEqual([200, { ...shown, linked_at: expect.stringMatching(/Z$/) }]);
    expect(linked).toEqual([new IdentityLinked(ada.id, body.id, 'other', 'api')]);
    await host.mailbox.after(0, ({ to, subject }) => to === ADA && /linked/.test(subject));
    const session = await host.session(AT_OTHER, 'other');
    expect(claimsOf(session.access_token).sub).toBe(ada.id);
    const [own] = await host.listed(session);
    expect(own).toMatchObject({ id: body.id, last_used_at: expect.any(String) });
  });

  it('are linked again without an effect', async () => {
    const ada = await withPassword();
    const id = await linkedTo(ada);
    const linked = t.recorded(IdentityLinked);
    const again = await host.link(ada, ada.proof, { ...AT_OTHER, email: 'new@other.test' });
    expect([again.status, again.body.id, linked]).toEqual([200, id, []]);
    expect(await rows()).toHaveLength(1);
  });

  it('are not linked with a second account, and the answer shows nothing about the first', async () => {
    await linkedTo(await withPassword());
    const bob = await withPassword('bob@example.org');
    const { status, body } = await host.link(bob, bob.proof, AT_OTHER);
    expect([status, body]).toEqual([409, { message: 'This sign-in is already linked to an account.' }]);
    expect(await rows()).toHaveLength(1);
  });

  it('are linked with one of two accounts at the same time', async () => {
    const both = [await withPassword(), await withPassword('bob@example.org')];
    const answers = await Promise.all(both.map((one) => host.link(one, one.proof, AT_OTHER)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await rows()).toHaveLength(1);
  });

  it('are linked only in the session that has begun, with its kind of attempt, once', async () => {
    const ada = await withPassword();
    const bob = await withPassword('bob@example.org');
    const second = await t.session(ADA);
    const begin = () => host.beginLink(ada, ada.proof, 'other');
    const refused = [
      await host.answerLink(second, await begin(), AT_OTHER, 'other'),
      await host.answerLink(bob, await begin(), AT_OTHER, 'other'),
      await host.answerLink(ada, await host.begin('other'), AT_OTHER, 'other'),
      await host.answerLink(ada, { ...(await begin()), attempt_token: 'of another browser' }, AT_OTHER, 'other'),
    ];
    expect(refused.map(({ status, body }) => [status, body])).toEqual(refused.map(() => [422, REFUSED]));
    const begun = await begin();
    const signIn = await host.send(
      await host.signedIn(begun.authorization_url, AT_OTHER),
      begun.attempt_token,
      'other',
    );
    expect(signIn.status).toBe(422);
    expect((await host.answerLink(ada, begun, AT_OTHER, 'other')).status).toBe(200);
    expect((await host.answerLink(ada, begun, AT_OTHER, 'other')).status).toBe(422);
    expect(await rows()).toEqual([{ user_id: ada.id, subject: 'other-1' }]);
  });

  it('are not linked by a session that has ended', async () => {
    const ada = await withPassword();
    const begun = await host.beginLink(ada, ada.proof, 'other');
    await t.call('post', '/auth/logout', ada.access_token).expect(204);
    expect((await host.answerLink(ada, begun, AT_OTHER, 'other')).status).toBe(401);
    expect(await rows()).toEqual([]);
  });

  it.each([
    ['get', 'identities', 200, {}],
    ['post', 'identities/other/link', 423, {}],
    ['post', 'identities/other/link/callback', 422, { parameters: 'state=x', attempt_token: 'x', redirect_uri: 'x' }],
    ['delete', 'identities/00000000-0000-4000-8000-000000000000', 423, {}],
    ['post', 'confirm-identity', 423, { provider: 'other' }],
    ['post', 'confirm-identity/callback', 423, { provider: 'other', parameters: 'x=y', attempt_token: 'x' }],
    ['post', 'identities/end-session', 200, {}],
  ] as const)('need a session: %s %s', async (method, path, status, body) => {
    await t.http[method](`/auth/${path}`).send(body).expect(401);
    const ada = await withPassword();
    const pinned = await t.auth.startSession(ada.id, {}, ['notes']);
    const of = { access_token: pinned.accessToken } as Tokens;
    const forPinned = await host.call(method, path, of).send(body);
    expect(forPinned.status).toBe(403);
    await host.call(method, path, ada).send(body).expect(status);
  });

  it('are not removed by another user, and an unknown id is the same', async () => {
    const id = await linkedTo(await withPassword());
    const bob = await withPassword('bob@example.org');
    for (const one of [id, '00000000-0000-4000-8000-000000000000', 'x'])
      expect((await unlink(bob, bob.proof, one).expect(404)).body).toEqual({ message: 'There is nothing here.' });
    expect(await rows()).toHaveLength(1);
  });

  it('end the sessions that they have started, when they are removed, and no other session', async () => {
    const ada = await withPassword();
    const id = await linkedTo(ada);
    const own = await host.session(AT_OTHER, 'other');
    const ended = t.recorded(SessionEnded);
    const unlinked = t.recorded(IdentityUnlinked);
    await unlink(ada, ada.proof, id).expect(204);
    expect([await host.isLive(own), await host.isLive(ada)]).toEqual([OVER, LIVE]);
    expect(ended.map(({ reason }) => reason)).toEqual(['identity_removed']);
    expect(unlinked).toEqual([new IdentityUnlinked(ada.id, id, 'other', 'api')]);
    expect(await rows()).toEqual([]);
  });

  it('do not end the session that removes them', async () => {
    const ada = await withPassword();
    const id = await linkedTo(ada);
    const own = await host.session(AT_OTHER, 'other');
    await unlink(own, await host.proofOf(own, AT_OTHER, 'other'), id).expect(204);
    expect(await host.isLive(own)).toEqual(LIVE);
  });

  it('are removed once more after a failure that has ended no session', async () => {
    const ada = await withPassword();
    const id = await linkedTo(ada);
    const own = await host.session(AT_OTHER, 'other');
    await whileStatementsFail(t, 'UPDATE ON svc_sessions', () => unlink(ada, ada.proof, id).expect(503));
    await unlink(ada, ada.proof, id).expect(404);
    expect(await host.isLive(own)).toEqual(OVER);
  });

  it('are neither linked nor removed while PostgreSQL refuses', async () => {
    const ada = await withPassword();
    const begun = await host.beginLink(ada, ada.proof, 'other');
    const events = [t.recorded(IdentityLinked), t.recorded(IdentityUnlinked)];
    await whileStatementsFail(t, 'INSERT ON svc_identities', async () =>
      expect((await host.answerLink(ada, begun, AT_OTHER, 'other')).status).toBe(503),
    );
    expect(await rows()).toEqual([]);
    expect(events).toEqual([[], []]);
    await linkedTo(ada);
  });

  it('keep the last way to sign in', async () => {
    const grace = await host.session();
    const proof = await host.proofOf(grace);
    const [first] = await host.listed(grace);
    expect((await unlink(grace, proof, first!.id).expect(409)).body).toEqual(LAST);
    const { body: second } = await host.link(grace, proof, AT_OTHER);
    await unlink(grace, proof, first!.id).expect(204);
    await unlink(grace, proof, second.id).expect(409);
    await t.database.query("UPDATE members SET password_hash = 'a password'");
    // A confirmation ends with the password that it was made with.
    await unlink(grace, await host.proofOf(grace, AT_OTHER, 'other'), second.id).expect(204);
    expect(await rows()).toEqual([]);
  });

  describe('and a passkey', () => {
    let grace: Tokens;
    let proof: string;
    let identity: string;
    let passkey: string;
    const removePasskey = () => host.call('delete', `passkeys/${passkey}`, grace, proof);
    beforeEach(async () => {
      grace = await host.session();
      proof = await host.proofOf(grace);
      identity = (await host.listed(grace))[0]!.id;
      passkey = await host.enrolPasskey(grace, proof, new SoftAuthenticator(ORIGIN));
    });

    it('are each the last way when the other one was removed', async () => {
      await removePasskey().expect(204);
      await unlink(grace, proof, identity).expect(409);
    });

    it('leave the passkey as the last way', async () => {
      await unlink(grace, proof, identity).expect(204);
      await removePasskey().expect(409);
    });

    it('never leave nothing when both are removed at the same time', async () => {
      const removed = [t.recorded(PasskeyRemoved), t.recorded(IdentityUnlinked)];
      // Both removals have begun before one of them can continue.
      const other = new Client({ connectionString: t.databaseUrl });
      await other.connect();
      await other.query('BEGIN');
      await other.query('SELECT 1 FROM svc_passkeys FOR UPDATE');
      const answers = Promise.all([removePasskey(), unlink(grace, proof, identity)]);
      await eventually(async () => {
        const waiting =
          "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        return (await t.database.query(waiting)).length === 2;
      });
      await other.query('COMMIT');
      await other.end();
      expect((await answers).map(({ status }) => status).toSorted()).toEqual([204, 409]);
      expect(removed.flat()).toHaveLength(1);
    });
  });

  it('go when the owner of the address takes an account over that another person has registered', async () => {
    const stranger = await host.session({ sub: 'other-9', name: 'X', email: 'owner@example.org' }, 'other');
    expect(await rows()).toHaveLength(1);
    // The link that verifies the address.
    await host.mailbox.to('owner@example.org');
    const before = host.mailbox.mails.length;
    await t.http.post('/auth/forgot-password').send({ email: 'owner@example.org' });
    const link = await host.mailbox.linkAfter(before, 'owner@example.org');
    await t.http
      .post('/auth/reset-password')
      .send({
        token: link.searchParams.get('token'),
        email: 'owner@example.org',
        password: 'a new and long password',
        password_confirmation: 'a new and long password',
      })
      .expect(200);
    expect(await rows()).toEqual([]);
    expect(await host.isLive(stranger)).toEqual(OVER);
  });

  it('are exported and erased with the account', async () => {
    const ada = await withPassword();
    await linkedTo(ada);
    const { body } = await host.call('get', 'account/export', ada, ada.proof).expect(200);
    const times = { linked_at: expect.any(String), last_used_at: null };
    const person = { email: 'ada@other.test', issuer: host.other.issuer, subject: 'other-1' };
    expect(body.identities).toEqual([{ id: expect.any(String), provider: 'other', ...person, ...times }]);
    await unlink(ada, ada.proof, body.identities[0].id).expect(204);
    await linkedTo(ada);
    await host.call('delete', 'account', ada, ada.proof).expect(204);
    expect(await rows()).toEqual([]);
  });
});
