import { EmailChangeUndone, EmailChanged } from '@svc/auth';
import { EmailChangeApp } from '../support/flows/email-change';
import { linkIn, member } from '../support/hosts/members';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { PASSWORD } from '../support/hosts/user-entities';

const ROUNDS = rounds(2);

const app = EmailChangeApp.forFile({ storeTimeoutMs: 20_000 });
const { t } = app;

/** Runs a race with a new member in each round. */
async function inRounds(race: (email: string, to: string, round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const email = `racer${round}@example.com`;
    app.id = await member(t, email, { emailVerifiedAt: new Date() });
    await app.signIn(email);
    await race(email, `racer${round}@new.example`, round);
  }
}

const statuses = (answers: { status: number }[]): number[] => answers.map(({ status }) => status);

/** Every email of the table, of which no two may be equal. */
const emails = async (): Promise<string[]> =>
  (await t.database.query('SELECT email FROM members ORDER BY 1')).map(({ email }: { email: string }) => email);

describe('a race', () => {
  jest.setTimeout(RACES_MS);

  it('of several tabs with one link: the email is changed once, with one event and one mail', async () => {
    await inRounds(async (email, to) => {
      const changed = t.recorded(EmailChanged);
      const token = await app.requested(to);
      const answers = await Promise.all(Array.from({ length: 5 }, () => app.confirm(token)));
      expect(statuses(answers)).toEqual([200, 200, 200, 200, 200]);
      expect(changed.filter(({ userId }) => userId === app.id)).toHaveLength(1);
      expect(await app.stored()).toEqual({ email: to, verified: true });
      await app.settled();
      expect(app.mailbox.mails.filter((mail) => mail.to === email)).toHaveLength(1);
    });
  });

  it('of several requests: one remains, and one of their links is valid', async () => {
    await inRounds(async (_, to, round) => {
      const targets = Array.from({ length: 4 }, (_unused, i) => `${i}.${to}`);
      const answers = await Promise.all(targets.map((target) => app.request(target)));
      expect(statuses(answers)).toEqual([202, 202, 202, 202]);
      const tokens = await Promise.all(targets.map((target) => app.tokenTo(target)));
      const confirmed: number[] = [];
      for (const token of tokens) confirmed.push((await app.confirm(token)).status);
      expect(confirmed.toSorted()).toEqual([200, 422, 422, 422]);
      expect((await app.states()).length).toBe(round + 1);
    });
  });

  it('of two accounts for one address: one gets it', async () => {
    await inRounds(async (_, to) => {
      const [id, first] = [app.id, await app.requested(to)];
      const email = `second.${to}`;
      app.id = await member(t, email, { emailVerifiedAt: new Date() });
      await app.signIn(email);
      const second = await app.requested(to);
      const answers = await Promise.all([app.confirm(first), app.confirm(second)]);
      expect(statuses(answers).toSorted()).toEqual([200, 409]);
      const [one, other] = [await app.stored(id), await app.stored(app.id)];
      expect([one!.email, other!.email].filter((stored) => stored === to)).toHaveLength(1);
    });
  });

  it('of a confirmation and a registration of the address: one of them gets it', async () => {
    await inRounds(async (_, to) => {
      const token = await app.requested(to);
      const form = { name: 'Eve', email: to, password: PASSWORD, password_confirmation: PASSWORD };
      const answers = await Promise.all([app.confirm(token), t.http.post('/auth/register').send(form)]);
      expect(['200 422', '409 200']).toContain(statuses(answers).join(' '));
      expect((await emails()).filter((stored) => stored === to)).toHaveLength(1);
    });
  });

  it('of an undo and a confirmation of a later change: the former address is restored, and stays', async () => {
    await inRounds(async (email, to) => {
      const undo = await app.changed(to, email);
      const later = await app.requested(`third.${to}`);
      const [undone, confirmed] = await Promise.all([app.undo(undo), app.confirm(later)]);
      expect(undone.status).toBe(200);
      expect([200, 422]).toContain(confirmed.status);
      expect(await app.stored()).toEqual({ email, verified: true });
      expect((await app.confirm(later)).status).toBe(422);
      expect(await app.stored()).toEqual({ email, verified: true });
      const living = 'SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL AND user_id = $1';
      expect(await t.database.query(living, [app.id])).toEqual([]);
    });
  });

  it('of the undo links of two changes: the first address is restored in the end', async () => {
    await inRounds(async (email, to) => {
      const first = await app.changed(to, email);
      const second = await app.changed(`third.${to}`, to);
      const [one, other] = await Promise.all([app.undo(first), app.undo(second)]);
      expect(one.status).toBe(200);
      expect([200, 422]).toContain(other.status);
      expect(await app.stored()).toEqual({ email, verified: true });
    });
  });

  it('of several clicks on the undo link: the email is restored once, and the owner gets one reset link, which is valid', async () => {
    await inRounds(async (email, to) => {
      const undone = t.recorded(EmailChangeUndone);
      const token = await app.changed(to, email);
      const answers = await Promise.all(Array.from({ length: 4 }, () => app.undo(token)));
      expect(statuses(answers)).toEqual([200, 200, 200, 200]);
      expect(undone.filter(({ userId }) => userId === app.id)).toHaveLength(1);
      await app.settled();
      const mails = app.mailbox.mails.filter((mail) => mail.to === email && mail.subject.startsWith('Reset'));
      expect(mails).toHaveLength(1);
      const password = 'another horse entirely';
      const body = {
        email,
        token: linkIn(mails[0]!).searchParams.get('token'),
        password,
        password_confirmation: password,
      };
      await t.http.post('/auth/reset-password').send(body).expect(200);
    });
  });

  it('of a confirmation and a reset of the password: the owner of the former address keeps a way back', async () => {
    await inRounds(async (email, to) => {
      const token = await app.requested(to);
      await t.http.post('/auth/forgot-password').send({ email }).expect(200);
      const reset = await app.tokenTo(email);
      const next = 'another horse entirely';
      const body = { email, token: reset, password: next, password_confirmation: next };
      const [confirmed, isReset] = await Promise.all([
        app.confirm(token),
        t.http.post('/auth/reset-password').send(body),
      ]);
      expect([200, 422]).toContain(confirmed.status);
      expect([200, 422]).toContain(isReset.status);
      // Either the change is refused, or the former address has a link that undoes it.
      const stored = await app.stored();
      if (confirmed.status === 200) {
        expect(stored!.email).toBe(to);
        await app.undo(await app.tokenTo(email, 2)).expect(200);
      }
      expect((await app.stored())!.email).toBe(email);
    });
  });

  it.each<[string, (to: string, email: string) => Promise<() => PromiseLike<{ status: number }>>]>([
    [
      'a confirmation',
      async (to) =>
        (
          (token) => () =>
            app.confirm(token)
        )(await app.requested(to)),
    ],
    [
      'an undo',
      async (to, email) =>
        (
          (token) => () =>
            app.undo(token)
        )(await app.changed(to, email)),
    ],
    ['a request', async (to) => () => app.request(to)],
  ])('of %s and the deletion of the account: no row of the account remains', async (_, prepare) => {
    await inRounds(async (email, to) => {
      const act = await prepare(to, email);
      const { token, proof, id } = app;
      const erase = t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof);
      const [erased, other] = await Promise.all([erase, act()]);
      expect([204, 401, 423]).toContain(erased.status);
      expect(other.status).toBeLessThan(500);
      if (erased.status !== 204) return;
      await app.settled();
      for (const table of ['svc_email_changes', 'svc_sessions', 'svc_password_resets'])
        expect(await t.database.query(`SELECT 1 FROM ${table} WHERE user_id = $1`, [id])).toEqual([]);
      expect(await app.stored(id)).toBeUndefined();
    });
  });

  it('of a request and the end of all sessions: the link of an ended session is not valid', async () => {
    await inRounds(async (email, to) => {
      const [answer] = await Promise.all([app.request(to), t.auth.revokeAll(app.id)]);
      expect([202, 401]).toContain(answer.status);
      await app.settled();
      const mail = app.mailbox.mails.find((sent) => sent.to === to);
      if (mail) await app.confirm(/token=([0-9a-f]{64})/.exec(mail.text)![1]).expect(422);
      expect((await app.stored())!.email).toBe(email);
    });
  });
});
