import { RecoveryCodesReplaced, SecurityStore } from '@svc/auth';
import { TestApp } from '../support/app';
import {
  ADA,
  type Enrolled,
  asConfirmed,
  challenge,
  codeAt,
  codeOf,
  complete,
  enrol,
  startTwoFactor,
  stepOf,
} from '../support/two-factor';

describe('a code', () => {
  let t: TestApp;
  let ada: Enrolled;

  const answer = async (code: string) => complete(t, { challenge_token: await challenge(t), code });
  const begin = async (window?: number): Promise<void> => {
    t = await startTwoFactor({ twoFactor: { window } });
    t.clock.stop();
    ada = await enrol(t);
    // Away from what enrolment used up.
    t.clock.advance(600);
  };
  afterEach(() => t.stop());

  it.each<[number | undefined, number[], number[]]>([
    [undefined, [-1, 0, 1], [-3, -2, 2, 3]],
    [0, [0], [-2, -1, 1, 2]],
    [2, [-2, -1, 0, 1, 2], [-4, -3, 3, 4]],
  ])('with a window of %j is good for the steps %j, and for none of %j', async (window, good, bad) => {
    await begin(window);
    for (const ahead of bad) expect((await answer(codeOf(t, ada.secret, ahead))).status).toBe(422);
    for (const ahead of good) expect((await answer(codeOf(t, ada.secret, ahead))).status).toBe(200);
  });

  it('is good once', async () => {
    await begin();
    const code = codeOf(t, ada.secret);
    expect((await answer(code)).status).toBe(200);
    expect((await answer(code)).status).toBe(422);
    t.clock.advance(30);
    expect((await answer(code)).status).toBe(422);
  });

  it('of an earlier step than the last one is refused, also within the window', async () => {
    await begin(2);
    const step = stepOf(t);
    expect((await answer(codeAt(ada.secret, step + 1))).status).toBe(200);
    for (const earlier of [step + 1, step, step - 1, step - 2]) {
      expect((await answer(codeAt(ada.secret, earlier))).status).toBe(422);
    }
    expect((await answer(codeAt(ada.secret, step + 2))).status).toBe(200);
  });

  it('with leading zeros is a text, and no number', async () => {
    await begin();
    while (!codeOf(t, ada.secret).startsWith('0')) t.clock.advance(30);
    const code = codeOf(t, ada.secret);
    const challenge_token = await challenge(t);
    await complete(t, { challenge_token, code: String(Number(code)) }).expect(422);
    await complete(t, { challenge_token, code: Number(code) }).expect(422);
    await complete(t, { challenge_token, code }).expect(200);
  });

  it('of a former secret is no code of the new one', async () => {
    await begin();
    const former = codeOf(t, ada.secret);
    await asConfirmed(t, 'delete', '/auth/two-factor', ada.token, ada.proof).expect(423);
    const { body } = await complete(t, { challenge_token: await challenge(t), code: former }).expect(200);
    await t.call('post', '/auth/logout', body.access_token).expect(204);
    await t.auth.twoFactor.disable('1');
    ada = await enrol(t);
    expect((await answer(former)).status).toBe(422);
    expect((await answer(codeOf(t, ada.secret))).status).toBe(200);
  });
});

describe('a code that was used', () => {
  it.each([0, 1])('stays used on a node whose clock is behind, with a window of %d', async (window) => {
    const t = await startTwoFactor({ twoFactor: { window } });
    const behind = await TestApp.start({
      options: { features: { twoFactor: true }, twoFactor: { window } },
      databaseUrl: t.databaseUrl,
    });
    for (const { clock } of [t, behind]) clock.stop();
    const ada = await enrol(t);
    t.clock.advance(600);
    behind.clock.advance(600 + 30 - 20);
    const code = codeOf(t, ada.secret, window);
    const store = t.app.get(SecurityStore, { strict: false });
    const kept = [jest.spyOn(store, 'add'), jest.spyOn(store, 'advance')];
    await complete(t, { challenge_token: await challenge(t), code }).expect(200);
    const seconds = kept.flatMap(({ mock }) =>
      mock.calls.filter(([key]) => key.includes('svc:2fa')).map((call) => call[2]),
    );
    // What the code is good for on the node that is ahead, and the difference.
    expect(seconds).toHaveLength(2);
    for (const one of seconds) expect(one).toBeGreaterThanOrEqual((2 * window + 1) * 30 + 60);
    await complete(behind, { challenge_token: await challenge(behind), code }).expect(422);
    await behind.stop();
    await t.stop();
  });
});

describe('recovery codes', () => {
  let t: TestApp;
  let ada: Enrolled;
  const count = () => t.get('/auth/two-factor/recovery-codes', ada.token);
  const replace = () => asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', ada.token, ada.proof);

  beforeEach(async () => {
    t = await startTwoFactor();
    ada = await enrol(t);
  });
  afterEach(() => t.stop());

  it('are counted, and shown to no cache', async () => {
    const { body, headers } = await count().expect(200);
    expect(body).toEqual({ remaining: 8, total: 8 });
    expect(headers['cache-control']).toBe('no-store, private');
  });

  it.each([['not json'], ['{}'], ['[1,2]'], ['null'], ['"text"'], ['[["x"]]'], ['']])(
    'count as none where the column holds %j',
    async (column) => {
      await t.database.query('UPDATE people SET two_factor_recovery_codes = $1', [column]);
      expect((await count().expect(200)).body).toEqual({ remaining: 0, total: 8 });
      const recovery_code = ada.recoveryCodes[0];
      await complete(t, { challenge_token: await challenge(t), recovery_code }).expect(422);
      await complete(t, { challenge_token: await challenge(t), code: codeOf(t, ada.secret) }).expect(200);
    },
  );

  it('are replaced as a set: the former ones are dead', async () => {
    const { body, headers } = await replace().expect(200);
    expect(headers['cache-control']).toBe('no-store, private');
    expect(body.recovery_codes).toHaveLength(8);
    await complete(t, { challenge_token: await challenge(t), recovery_code: ada.recoveryCodes[0] }).expect(422);
    await complete(t, { challenge_token: await challenge(t), recovery_code: body.recovery_codes[0] }).expect(200);
  });

  it('that were replaced are told of, once for each set, and none of what is in it', async () => {
    const replaced = t.recorded(RecoveryCodesReplaced);
    const answers = await Promise.all(Array.from({ length: 5 }, () => replace()));
    const sets = answers.filter(({ status }) => status === 200);
    expect(replaced).toEqual(sets.map(() => ({ userId: '1', guard: 'api' })));
    await t.auth.twoFactor.disable('1');
    await replace().expect(409);
    await enrol(t);
    expect(replaced).toHaveLength(sets.length);
  });

  it('are refused to whoever has no enabled second factor', async () => {
    await t.auth.twoFactor.disable('1');
    const { body } = await replace().expect(409);
    expect(body.errors).toEqual({ two_factor: ['Two-factor authentication is not enabled.'] });
    await asConfirmed(t, 'post', '/auth/two-factor', ada.token, ada.proof).expect(200);
    await replace().expect(409);
  });

  it('each open one session, until none is left', async () => {
    for (const recovery_code of ada.recoveryCodes) {
      await complete(t, { challenge_token: await challenge(t), recovery_code }).expect(200);
    }
    expect((await count()).body).toEqual({ remaining: 0, total: 8 });
    const { body } = await t.login(ADA).expect(200);
    expect(body.methods).toEqual(['totp']);
  });
});
