import { TestApp } from '../support/hosts/app';
import { altered } from '../support/clients/forge';
import { ADA } from '../support/hosts/user-entities';

const MOST = 3;

describe('the limit of refreshes by session', () => {
  const t = TestApp.forFile({
    options: { rateLimits: { refresh: { by: 'session', maxAttempts: MOST, decaySeconds: 60 } } },
  });
  beforeEach(() => t.person(ADA));

  it('lets many sessions of one address refresh, and limits each of them', async () => {
    const sessions = await Promise.all(Array.from({ length: 31 }, () => t.auth.startSession(1)));
    const answers = await Promise.all(sessions.map(({ refreshToken }) => t.refresh(refreshToken)));
    expect(answers.map(({ status }) => status)).toEqual(sessions.map(() => 200));
    let token: string = answers[0]!.body.refresh_token;
    for (let n = 1; n < MOST; n++) token = (await t.refresh(token).expect(200)).body.refresh_token;
    const refused = await t.refresh(token).expect(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // It was not consumed.
    const generations = await t.database.query('SELECT max(generation) AS most FROM svc_sessions');
    expect(generations).toEqual([{ most: MOST }]);
  });

  it('counts tokens that the server did not make for the address, and not for a session', async () => {
    const { refreshToken: token } = await t.auth.startSession(1);
    const forged = altered(token);
    for (const wrong of [forged, 'x', forged]) await t.refresh(wrong).expect(401);
    for (const wrong of [forged, 'x']) await t.refresh(wrong).expect(429);
    await t.refresh(token).expect(200);
  });

  it('starts no application with another word', async () => {
    const options = { rateLimits: { refresh: { by: 'user' as never } } };
    await expect(TestApp.start({ options })).rejects.toThrow(
      'rateLimits.refresh.by (SVC_REFRESH_BY) must be "address" or "session".',
    );
  });
});
