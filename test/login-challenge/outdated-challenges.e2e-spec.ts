import { SecurityStore, StoreUnavailable, bcryptVerifier } from '@svc/auth';
import { hash as bcrypt } from 'bcryptjs';
import { createHash } from 'node:crypto';
import { TestApp, claimsOf } from '../support/hosts/app';
import { PausePoint, whilePaused } from '../support/faults/pause-point';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { ENCRYPTION_KEY } from '../support/hosts/host.module';
import { linkIn, member, membersForFile, startMembers } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { RedisServer } from '../support/stores/redis';
import { ADA, type Enrolled, startChallenge, codeOf, completeChallenge, enrol } from '../support/flows/two-factor';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const NEXT = 'another horse entirely';
const BAD = /"challenge_token":\[/;

describe('a login challenge for a former password', () => {
  const checkpoint = PausePoint.disabled();
  const { t, mailbox } = membersForFile({
    features: { twoFactor: true, lockout: true },
    hashing: { memoryCost: 64, timeCost: 1, verifiers: [bcryptVerifier({ rounds: 4 })] },
    hooks: { tokenClaims: async () => checkpoint.pass().then(() => ({})) },
  });
  let id: string;
  let ada: Enrolled;

  beforeEach(async () => {
    // The address was verified: the second factor survives a reset.
    id = await member(t, ADA, { emailVerifiedAt: new Date() });
    ada = await enrol(t);
  });

  const chosen = { password: NEXT, password_confirmation: NEXT };
  const reset = async (): Promise<void> => {
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token');
    await t.http
      .post('/auth/reset-password')
      .send({ token, email: ADA, ...chosen })
      .expect(200);
  };
  const change = async (): Promise<void> => {
    await t
      .call('post', '/auth/password', ada.token)
      .send({ current_password: PASSWORD, ...chosen })
      .expect(200);
  };
  const erase = async (): Promise<void> => {
    const proof = await confirmationTokenOf(t, ada.token);
    await t.call('delete', '/auth/account', ada.token).set(CONFIRMATION_HEADER, proof).expect(204);
  };
  const right = (challenge_token: string) => completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) });
  const countLive = async (): Promise<number> =>
    (await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL')).length;

  it.each([
    ['reset', reset, 0],
    ['changed', change, 1],
  ])(
    'is invalid after the password was %s and consumes no code, and a new login succeeds',
    async (_, replace, liveSessions) => {
      const challenge_token = await startChallenge(t);
      await replace();
      await right(challenge_token).expect(422, BAD);
      await completeChallenge(t, { challenge_token, recovery_code: ada.recoveryCodes[0] }).expect(422, BAD);
      expect(await countLive()).toBe(liveSessions);
      expect(await t.auth.twoFactor.recoveryCodeCount(id)).toEqual({ remaining: 8, total: 8 });
      // It did not count as a guess.
      const counted = await t.database.query(
        "SELECT sum(attempts)::int AS n FROM svc_lockouts WHERE purpose = 'two_factor'",
      );
      expect(counted[0].n ?? 0).toBe(0);
      const { body } = await t.login(ADA, NEXT).expect(200);
      await right(body.challenge_token).expect(200);
    },
  );

  it.each([
    ['was reset', reset, 0],
    ['was changed', change, 1],
    ['was deleted with its account', erase, 0],
  ])('opens no session if it was completed just before that password %s', async (_, replace, liveSessions) => {
    const challenge_token = await startChallenge(t);
    const { status, text } = await whilePaused(checkpoint, right(challenge_token), replace);
    expect(status).toBe(422);
    expect(text).toMatch(BAD);
    expect(await countLive()).toBe(liveSessions);
  });

  const session = async (): Promise<string> => (await t.auth.startSession(id)).accessToken;

  it.each<[string, () => Promise<unknown>]>([
    ['DELETE /sessions', async () => t.call('delete', '/auth/sessions', await session()).expect(204)],
    ['DELETE /sessions/others', async () => t.call('delete', '/auth/sessions/others', await session()).expect(204)],
    ['revokeAll', () => t.auth.revokeAll(id)],
    ['revokeOthers', async () => t.auth.revokeOthers(id, String(claimsOf(await session()).fid))],
    ['revokeEverything', () => t.auth.revokeEverything()],
  ])('is invalid after %s, consumes no code, and a new login succeeds', async (_, end) => {
    const challenge_token = await startChallenge(t);
    await end();
    await right(challenge_token).expect(422, BAD);
    await completeChallenge(t, { challenge_token, recovery_code: ada.recoveryCodes[0] }).expect(422, BAD);
    expect(await t.auth.twoFactor.recoveryCodeCount(id)).toEqual({ remaining: 8, total: 8 });
    const next = await startChallenge(t);
    await end();
    await right(next).expect(422, BAD);
    await right(await startChallenge(t)).expect(200);
  });

  it.each<[string, (own: string) => Promise<unknown>]>([
    ['DELETE /sessions', async (own) => t.call('delete', '/auth/sessions', own).expect(204)],
    ['DELETE /sessions/others', async (own) => t.call('delete', '/auth/sessions/others', own).expect(204)],
    ['revokeEverything', () => t.auth.revokeEverything()],
  ])('opens no session if it was completed just before %s', async (_, end) => {
    const challenge_token = await startChallenge(t);
    const own = await session();
    const { status, text } = await whilePaused(checkpoint, right(challenge_token), () => end(own));
    expect(status).toBe(422);
    expect(text).toMatch(BAD);
    const live = 'SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL AND id <> $1';
    expect(await t.database.query(live, [claimsOf(own).fid])).toEqual([]);
  });

  it('is valid after one session ended, or all sessions of another user or another guard', async () => {
    const other = await member(t, 'bob@example.com');
    const challenge_token = await startChallenge(t);
    await t.auth.revokeAll(other);
    await t.auth.guard('admin').revokeAll(id);
    await t.auth.guard('admin').revokeEverything();
    await t.call('post', '/auth/logout', ada.token).expect(204);
    await right(challenge_token).expect(200);
  });

  it('reveals nothing about the hash, not even whether it is the same', async () => {
    const [one, other] = [claimsOf(await startChallenge(t)), claimsOf(await startChallenge(t))];
    expect(Object.keys(one).toSorted()).toEqual(['aud', 'exp', 'fpr', 'gid', 'iat', 'iss', 'jti', 'nbf', 'sto', 'sub']);
    expect(one.fpr).toMatch(/^[0-9a-f]{64}$/);
    expect(one.fpr).not.toBe(other.fpr);
    const [{ password_hash }] = await t.database.query('SELECT password_hash FROM members');
    for (const text of [password_hash, JSON.stringify([one.jti, password_hash])]) {
      expect(one.fpr).not.toBe(createHash('sha256').update(text).digest('hex'));
    }
  });

  it('differs from one whose hash the login itself or a concurrent login renewed, which is accepted', async () => {
    await t.database.query('UPDATE members SET password_hash = $1', [await bcrypt(PASSWORD, 4)]);
    const challenges = await Promise.all(Array.from({ length: 8 }, () => startChallenge(t)));
    for (const challenge_token of challenges) {
      t.clock.advance(30);
      await right(challenge_token).expect(200);
    }
  });

  it('is detected under a former encryption key, too', async () => {
    const [kept, former] = [await startChallenge(t), await startChallenge(t)];
    const next = await startMembers(
      {
        features: { twoFactor: true },
        encryption: { key: 'the-next-key-of-encryption-at-rest-0123456789', previousKeys: [ENCRYPTION_KEY] },
      },
      { databaseUrl: t.databaseUrl },
    );
    next.t.clock.advance(30);
    await completeChallenge(next.t, { challenge_token: kept, code: codeOf(next.t, ada.secret) }).expect(200);
    await change();
    next.t.clock.advance(30);
    await completeChallenge(next.t, { challenge_token: former, code: codeOf(next.t, ada.secret) }).expect(422, BAD);
    await next.t.stop();
  });
});

describe('without a denylist, an end of sessions that the security store cannot record', () => {
  const { t } = membersForFile({ features: { twoFactor: true, denylist: false } });
  let id: string;
  let ada: Enrolled;
  beforeEach(async () => {
    id = await member(t, ADA);
    ada = await enrol(t);
  });

  const ends: [string, () => Promise<unknown>][] = [
    ['DELETE /sessions', async () => t.call('delete', '/auth/sessions', ada.token).expect(204)],
    ['DELETE /sessions/others', async () => t.call('delete', '/auth/sessions/others', ada.token).expect(204)],
    ['auth.revokeAll', () => t.auth.revokeAll(id)],
    ['auth.revokeEverything', () => t.auth.revokeEverything()],
  ];
  it.each(ends)('by %s ends the sessions, fails, and is complete after a repetition', async (_, end) => {
    const challenge_token = await startChallenge(t);
    const { refreshToken } = await t.auth.startSession(id);
    const setMany = jest.spyOn(t.app.get(SecurityStore), 'setMany');
    setMany.mockRejectedValueOnce(new StoreUnavailable('Redis'));
    await expect(end()).rejects.toThrow(/503|Redis/);
    await t.refresh(refreshToken).expect(401);
    await end();
    const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['challenge_token']);
  });
});

describeWithOwnRedis('a login challenge from before a data loss of Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => void (redis = await RedisServer.start()));
  afterAll(() => redis.stop());

  const t = TestApp.forFile(() => ({ options: { features: { twoFactor: true } }, redisUrl: redis.url }));
  let ada: Enrolled;

  beforeEach(async () => {
    await t.person(ADA);
    ada = await enrol(t);
  });

  const answer = async (challenge_token: string): Promise<number> => {
    t.clock.advance(30);
    return (await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) })).status;
  };

  it('is invalid, used or not, and the next login succeeds', async () => {
    const [spent, unspent] = [await startChallenge(t), await startChallenge(t)];
    expect(await answer(spent)).toBe(200);
    await redis.flush();
    expect([await answer(spent), await answer(unspent)]).toEqual([422, 422]);
    expect(await answer(await startChallenge(t))).toBe(200);
  });

  it('is refused before a code is checked', async () => {
    const [spent, unspent] = [await startChallenge(t), await startChallenge(t)];
    expect(await answer(spent)).toBe(200);
    await redis.flush();
    for (const challenge_token of [spent, unspent]) {
      const { body } = await completeChallenge(t, { challenge_token, code: '000000' }).expect(422);
      expect(Object.keys(body.errors)).toEqual(['challenge_token']);
    }
  });

  it('is valid once if the node has checked the store meanwhile and nothing was lost', async () => {
    const token = await startChallenge(t);
    t.clock.advance(61);
    await t.get('/private', ada.token).expect(200);
    expect([await answer(token), await answer(token)]).toEqual([200, 422]);
  });

  it('is replaced by a valid one at the next login, however often the store loses its data', async () => {
    let token = '';
    for (let round = 0; round < 10; round++) {
      await redis.flush();
      token = await startChallenge(t);
    }
    expect(await answer(token)).toBe(200);
  });

  it('is replaced by a valid one at the next login, even if the store loses its data again meanwhile', async () => {
    const store = t.app.get(SecurityStore);
    const add = store.add.bind(store);
    let losses = 0;
    // The node has just recorded that the store is complete.
    jest.spyOn(store, 'add').mockImplementation(async (key, ...rest) => {
      const isAdded = await add(key, ...rest);
      if (key === 'svc:store' && losses++ === 0) await redis.flush();
      return isAdded;
    });
    await redis.flush();
    expect(await answer(await startChallenge(t))).toBe(200);
    expect(losses).toBeGreaterThan(0);
  });

  it('is not accepted a second time by a request that had verified it before the loss', async () => {
    const token = await startChallenge(t);
    const store = t.app.get(SecurityStore);
    const add = store.add.bind(store);
    jest.spyOn(store, 'add').mockImplementation(async (key, ...rest) => {
      if (key.startsWith('svc:dl:jti:')) await redis.flush();
      return add(key, ...rest);
    });
    expect(await answer(token)).toBe(422);
  });
});
