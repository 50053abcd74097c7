import { PasskeyRemoved, SessionEnded } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { claimsOf } from '../support/hosts/app';
import { whileStatementsFail } from '../support/faults/failing-statements';
import { type Confirmed, ORIGIN, PasskeyApp } from '../support/flows/passkeys';
import { completeChallenge, startChallenge } from '../support/flows/two-factor';

describe('the removal of a passkey', () => {
  const app = PasskeyApp.forFile({ passkeys: { required: true } });
  const { t } = app;
  let ada: Confirmed;
  let lost: SoftAuthenticator;
  let kept: SoftAuthenticator;
  let id: string;
  beforeEach(async () => {
    [lost, kept] = [new SoftAuthenticator(ORIGIN), new SoftAuthenticator(ORIGIN)];
    ada = await app.confirmed();
    id = await app.enrol(ada, lost);
    await app.enrol(ada, kept);
  });

  const secondStep = async (device: SoftAuthenticator) => {
    const challenge_token = await startChallenge(t);
    return (await completeChallenge(t, { challenge_token, ...(await app.answer(device)) }).expect(200)).body;
  };
  const remove = (from = ada) => app.call('delete', `passkeys/${id}`, from);
  const isLive = async ({ refresh_token, access_token }: { refresh_token: string; access_token: string }) => {
    const { status } = await t.get('/private', access_token);
    return [status, (await t.refresh(refresh_token)).status];
  };

  it('ends the sessions that it has started, alone or as the second factor, and no other session', async () => {
    const own = [await app.signIn(lost), await secondStep(lost)];
    const others = [ada, await app.signIn(kept), await secondStep(kept)];
    const bob = await app.confirmed('bob@example.com');
    const ended = t.recorded(SessionEnded);
    await remove(bob).expect(204);
    expect(ended).toEqual([]);
    await remove().expect(204);
    for (const session of own) expect(await isLive(session)).toEqual([401, 401]);
    for (const session of [...others, bob]) expect(await isLive(session)).toEqual([200, 200]);
    expect(ended.map(({ familyId, reason }) => `${familyId} ${reason}`).toSorted()).toEqual(
      own.map(({ access_token }) => `${String(claimsOf(access_token).fid)} passkey_removed`).toSorted(),
    );
  });

  it('does not end the session that removes it', async () => {
    const [session, other] = [await app.signIn(lost), await app.signIn(lost)];
    const answer = await app.answer(lost);
    const { body } = await t.call('post', '/auth/confirm-passkey', session.access_token).send(answer).expect(200);
    await remove({ ...session, proof: body.confirmation_token }).expect(204);
    expect(await isLive(session)).toEqual([200, 200]);
    expect(await isLive(other)).toEqual([401, 401]);
  });

  it('is repeated after a failure, which has removed it and ended no session', async () => {
    const session = await app.signIn(lost);
    const removed = t.recorded(PasskeyRemoved);
    await whileStatementsFail(t, 'UPDATE ON svc_sessions', () => remove().expect(503));
    await remove().expect(204);
    expect(removed).toHaveLength(1);
    expect(await isLive(session)).toEqual([401, 401]);
  });

  it.each(['a sign-in', 'a second step'])('during %s leaves no session of the passkey', async (kind) => {
    const challenge_token = await startChallenge(t);
    const answer = await app.answer(lost);
    await t.database.query(`
      CREATE FUNCTION removes() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN DELETE FROM svc_passkeys WHERE credential_id = '${id}'; RETURN NEW; END $$;
      CREATE TRIGGER removes BEFORE INSERT ON svc_sessions FOR EACH ROW EXECUTE FUNCTION removes()`);
    try {
      const { status } = await (kind === 'a sign-in'
        ? app.login(answer.ceremony_id, answer.credential)
        : completeChallenge(t, { challenge_token, ...answer }));
      expect([401, 422]).toContain(status);
      expect(await t.database.query('SELECT 1 FROM svc_sessions WHERE credential_id IS NOT NULL')).toEqual([]);
    } finally {
      await t.database.query('DROP TRIGGER removes ON svc_sessions; DROP FUNCTION removes');
    }
  });
});
