import { RefreshTokenReused, SessionEnded, SessionRecovered } from '@svc/auth';
import { TestApp, type Tokens, claimsOf } from '../support/hosts/app';
import { ENCRYPTION_KEY } from '../support/hosts/host.module';

const NEW_KEY = 'another-key-of-encryption-at-rest-0123456789';

/** The public part of a refresh token in hex: version, session and generation. */
const publicPart = (token: string): string => Buffer.from(token, 'base64url').subarray(0, 21).toString('hex');

describe('a new encryption key', () => {
  const t = TestApp.forFile();
  const rotated = TestApp.forFile(() => ({
    databaseUrl: t.databaseUrl,
    options: { encryption: { key: NEW_KEY, previousKeys: [ENCRYPTION_KEY] } },
  }));
  const without = TestApp.forFile(() => ({
    databaseUrl: t.databaseUrl,
    options: { secret: 'a-secret-of-its-own-0123456789-0123456789', encryption: { key: NEW_KEY } },
  }));
  let first: Tokens;

  beforeEach(async () => {
    await t.person('ada@example.com');
    first = await t.session();
  });

  it('signs no user out: refresh tokens of the former key are exchanged for tokens of the new key', async () => {
    const { body } = await rotated.refresh(first.refresh_token).expect(200);
    expect(publicPart(body.refresh_token)).toMatch(/00000001$/);
    await rotated.refresh(body.refresh_token).expect(200);
  });

  it('answers a replay with the same successor text at every attempt', async () => {
    const { body: old } = await t.refresh(first.refresh_token).expect(200);
    const { body: again } = await rotated.refresh(first.refresh_token).expect(200);
    const { body: third } = await rotated.refresh(first.refresh_token).expect(200);
    expect(publicPart(again.refresh_token)).toBe(publicPart(old.refresh_token));
    expect(again.refresh_token).not.toBe(old.refresh_token);
    expect(third.refresh_token).toBe(again.refresh_token);
    // The tokens of both keys are the current token.
    const { body: next } = await rotated.refresh(old.refresh_token).expect(200);
    const { body: same } = await rotated.refresh(again.refresh_token).expect(200);
    expect(same.refresh_token).toBe(next.refresh_token);
    await rotated.refresh(next.refresh_token).expect(200);
  });

  it('does not prevent the detection of a reused token', async () => {
    const { body } = await rotated.refresh(first.refresh_token).expect(200);
    rotated.clock.advance(31);
    await rotated.refresh(first.refresh_token).expect(401);
    await rotated.refresh(body.refresh_token).expect(401);
  });

  it('without encryption.previousKeys refuses earlier tokens, and ends no session', async () => {
    const { body } = await rotated.refresh(first.refresh_token).expect(200);
    await without.refresh(first.refresh_token).expect(401);
    await t.refresh(body.refresh_token).expect(401);
    await without.refresh(body.refresh_token).expect(200);
  });
});

describe('a session whose last rotations PostgreSQL has lost', () => {
  const t = TestApp.forFile();
  let tokens: string[];
  let fid: string;

  type Row = { generation: number; recent: unknown; holders: number };
  const row = async (): Promise<Row> =>
    (await t.database.query('SELECT generation, recent, holders FROM svc_sessions WHERE id = $1', [fid]))[0];
  /** Simulates a failover to a standby without the later commits. */
  const restore = ({ generation, recent, holders }: Row) =>
    t.database.query('UPDATE svc_sessions SET generation = $2, recent = $3, holders = $4 WHERE id = $1', [
      fid,
      generation,
      recent,
      holders,
    ]);
  const rotate = async (): Promise<void> => {
    const { body } = await t.refresh(tokens.at(-1)!).expect(200);
    tokens.push(body.refresh_token);
  };
  const successorOf = async (generation: number): Promise<string> =>
    (await t.refresh(tokens[generation]!).expect(200)).body.refresh_token;
  let kept: Row;

  // The database has generation 1; the client has 4, because the answer with 5 was lost.
  beforeEach(async () => {
    t.clock.stop();
    await t.person('ada@example.com');
    const session = await t.session();
    tokens = [session.refresh_token];
    fid = String(claimsOf(session.access_token).fid);
    await rotate();
    kept = await row();
    for (let i = 0; i < 4; i++) await rotate();
    await restore(kept);
  });

  it('continues from the token of its client, with the same successor as before', async () => {
    const recovered = t.recorded(SessionRecovered);
    const ended = t.recorded(SessionEnded);
    const { body } = await t.refresh(tokens[4]).expect(200);
    expect(body.refresh_token).toBe(tokens[5]);
    await t.get('/private', body.access_token).expect(200);
    expect(await row()).toMatchObject({ generation: 5, holders: 1 });
    expect(recovered).toEqual([{ guard: 'api', userId: '1', familyId: fid, lost: 3 }]);
    await t.refresh(tokens[5]).expect(200);
    expect([recovered.length, ended]).toEqual([1, []]);
  });

  it('treats older tokens as replays in the grace period that begins then, and as reused after it', async () => {
    t.clock.advance(300);
    expect(await successorOf(4)).toBe(tokens[5]);
    for (const generation of [1, 2, 3, 4]) expect(await successorOf(generation)).toBe(tokens[5]);
    t.clock.advance(29);
    expect(await successorOf(2)).toBe(tokens[5]);
    t.clock.advance(2);
    const reused = t.recorded(RefreshTokenReused);
    await t.refresh(tokens[3]).expect(401);
    expect(reused).toHaveLength(1);
    await t.refresh(tokens[5]).expect(401);
  });

  it('treats a token as reused that was replaced before the loss and is past its grace period', async () => {
    t.clock.advance(31);
    expect(await successorOf(4)).toBe(tokens[5]);
    await t.refresh(tokens[0]).expect(401);
    await t.refresh(tokens[5]).expect(401);
  });

  it('continues from the newest token after an older lost one was presented first', async () => {
    const recovered = t.recorded(SessionRecovered);
    expect(await successorOf(2)).toBe(tokens[3]);
    expect(await successorOf(5)).not.toBe(tokens[5]);
    expect(recovered.map(({ lost }) => lost)).toEqual([1, 2]);
  });

  it('gives concurrent requests the same successor, and reports one recovery', async () => {
    const recovered = t.recorded(SessionRecovered);
    const answers = await Promise.all(Array.from({ length: 20 }, () => t.refresh(tokens[4])));
    expect(answers.map(({ status, body }) => [status, body.refresh_token])).toEqual(
      answers.map(() => [200, tokens[5]]),
    );
    expect(recovered).toHaveLength(1);
  });

  it('continues when every commit since the login is lost', async () => {
    await restore({ generation: 0, recent: [], holders: 1 });
    expect(await successorOf(5)).toBe((await t.refresh(tokens[0]).expect(200)).body.refresh_token);
  });

  it('stays ended', async () => {
    await t.auth.revoke(fid);
    for (const token of tokens) await t.refresh(token).expect(401);
  });

  it('stays ended by the denylist when its end was lost, too', async () => {
    await t.auth.revoke(fid);
    const ended = t.recorded(SessionEnded);
    await t.database.query('UPDATE svc_sessions SET revoked_at = NULL');
    await t.refresh(tokens[5]).expect(401);
    const [{ revoked }] = await t.database.query('SELECT revoked_at IS NOT NULL AS revoked FROM svc_sessions');
    expect([revoked, ended.map(({ reason }) => reason)]).toEqual([true, ['revoked']]);
  });

  it('is not changed by a forged token of a later generation', async () => {
    const bytes = Buffer.from(tokens[5]!, 'base64url');
    for (const generation of [6, 7, 1000]) {
      bytes.writeUInt32BE(generation, 17);
      await t.refresh(bytes.toString('base64url')).expect(401);
    }
    expect(await row()).toEqual(kept);
  });
});

describe('with grace 0, a session whose last rotations PostgreSQL has lost', () => {
  const t = TestApp.forFile({ options: { graceSeconds: 0 } });

  it('continues from the token of its client, and treats every older one as reused', async () => {
    await t.person('ada@example.com');
    const { refresh_token: zero } = await t.session();
    const { body: one } = await t.refresh(zero).expect(200);
    const { body: two } = await t.refresh(one.refresh_token).expect(200);
    await t.database.query("UPDATE svc_sessions SET generation = 0, recent = '{}'");
    const { body: three } = await t.refresh(two.refresh_token).expect(200);
    await t.refresh(one.refresh_token).expect(401);
    await t.refresh(three.refresh_token).expect(401);
  });
});
