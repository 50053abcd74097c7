import { RefreshFamilyForked, RefreshTokenReused } from '@svc/auth';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';

describe('a refresh whose answer was lost', () => {
  const t = TestApp.forFile({ options: { accessTtl: 900, sessions: { unusedSuccessorSeconds: 300 } } });
  beforeEach(() => t.person(ADA));

  it('is answered once more after the grace period with the same successor, and reported', async () => {
    const { refresh_token: token, access_token } = await t.session();
    const events: RefreshFamilyForked[] = [];
    t.on(RefreshFamilyForked, (event) => events.push(event));
    const { body: lost } = await t.refresh(token).expect(200);
    t.clock.advance(200);
    const { body: answer } = await t.refresh(token).expect(200);
    expect(answer.refresh_token).toBe(lost.refresh_token);
    const familyId = claimsOf(access_token).fid;
    expect(events).toEqual([expect.objectContaining({ familyId, holders: 2 })]);
    await t.refresh(answer.refresh_token).expect(200);
  });

  it('ends the session at a repetition after its grace period, after the time, and after its successor was presented', async () => {
    let reuses = 0;
    t.on(RefreshTokenReused, () => reuses++);
    const late = async (): Promise<string> => {
      const { refresh_token: token } = await t.session();
      await t.refresh(token).expect(200);
      t.clock.advance(200);
      return token;
    };
    const twice = await late();
    await t.refresh(twice).expect(200);
    t.clock.advance(31);
    await t.refresh(twice).expect(401);

    const tooLate = await late();
    t.clock.advance(101);
    await t.refresh(tooLate).expect(401);

    const { refresh_token: first } = await t.session();
    const { body } = await t.refresh(first).expect(200);
    await t.refresh(body.refresh_token).expect(200);
    t.clock.advance(200);
    await t.refresh(first).expect(401);
    expect(reuses).toBe(3);
  });

  it('ends the session of a thief and an owner who take turns', async () => {
    const { refresh_token: stolen } = await t.session();
    const { body: owner } = await t.refresh(stolen).expect(200);
    t.clock.advance(100);
    const { body: thief } = await t.refresh(stolen).expect(200);
    t.clock.advance(100);
    await t.refresh(owner.refresh_token).expect(200);
    t.clock.advance(100);
    await t.refresh(thief.refresh_token).expect(401);
    expect((await t.database.query('SELECT revoked_at FROM svc_sessions'))[0].revoked_at).not.toBeNull();
  });

  it('is answered to several requests at once, and again within the grace period', async () => {
    const { refresh_token: token } = await t.session();
    const { body: lost } = await t.refresh(token).expect(200);
    t.clock.advance(200);
    const answers = await Promise.all([t.refresh(token), t.refresh(token), t.refresh(token)]);
    t.clock.advance(20);
    answers.push(await t.refresh(token));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.refresh_token))).toEqual(new Set([lost.refresh_token]));
  });
});
