import { type AuthModuleOptions, Pruning } from '@svc/auth';
import { eventually } from '../support/runtime/eventually';
import { TestApp } from '../support/hosts/app';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { Mailbox, linkIn, member, memberOptions } from '../support/hosts/members';

const NEXT = 'another horse entirely';

/** A host with a member, on a database of its own or on that of another host. */
function hostForFile(passwordReset: AuthModuleOptions['passwordReset'], shared?: () => TestApp) {
  const mailbox = new Mailbox();
  const t = TestApp.forFile(() => ({
    options: memberOptions(mailbox, { passwordReset }),
    databaseUrl: shared?.().databaseUrl,
  }));
  beforeEach(() => {
    mailbox.clear();
    t.clock.stop();
  });
  const forgot = () => t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
  return {
    t,
    mailbox,
    forgot,
    /** Requests a link, and returns the token of the mail. */
    mailed: async (): Promise<string> => {
      const before = mailbox.mails.length;
      await forgot();
      return (await mailbox.linkAfter(before)).searchParams.get('token')!;
    },
    reset: async (token: string): Promise<number> => {
      const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
      return (await t.http.post('/auth/reset-password').send(body)).status;
    },
    swept: async (): Promise<number> => (await t.app.get(Pruning).run()).resetTokens,
  };
}

describe('a reset link with passwordReset.expireMinutes', () => {
  const { t, mailbox, mailed, reset } = hostForFile({ expireMinutes: 5 });
  beforeEach(async () => void (await member(t, ADA)));

  it('is valid for these minutes, which the mail states', async () => {
    const token = await mailed();
    expect(mailbox.mails[0]!.text).toContain('valid for 5 minutes');
    t.clock.advance(299);
    expect(await reset(token)).toBe(200);
  });

  it('is refused afterwards, with the answer to an unknown token', async () => {
    const token = await mailed();
    t.clock.advance(301);
    expect(await reset(token)).toBe(422);
  });
});

describe('the pause between two mails, passwordReset.throttleSeconds', () => {
  const { t, mailbox, forgot, mailed, swept } = hostForFile({ expireMinutes: 1, throttleSeconds: 600 });
  beforeEach(async () => void (await member(t, ADA)));

  it('sends no second mail before it is over, also if pruning runs and the link has expired', async () => {
    await mailed();
    t.clock.advance(599);
    expect(await swept()).toBe(0);
    await forgot();
    t.clock.advance(2);
    await mailed();
    // Mails are sent in order: a mail of the second request would have been sent before.
    expect(mailbox.mails).toHaveLength(2);
  });

  it('ends with the row, which pruning deletes when the pause is over', async () => {
    await mailed();
    t.clock.advance(601);
    expect(await swept()).toBe(1);
  });
});

describe('without a pause, passwordReset.throttleSeconds 0', () => {
  const { t, mailbox, forgot, mailed, reset } = hostForFile({ throttleSeconds: 0 });
  beforeEach(async () => void (await member(t, ADA)));

  it('every request is mailed until three links are valid', async () => {
    const [first] = [await mailed(), await mailed(), await mailed()];
    await forgot();
    await t.calm();
    expect(mailbox.mails).toHaveLength(3);
    expect(await reset(first)).toBe(200);
  });

  it('many requests at once are mailed three times at most', async () => {
    for (let i = 0; i < 3; i++) await Promise.all(Array.from({ length: 8 }, forgot));
    await t.calm();
    expect(mailbox.mails).toHaveLength(3);
  });
});

describe('the valid reset links of an account', () => {
  const { t, mailbox, forgot, mailed, reset } = hostForFile({ expireMinutes: 10 });
  beforeEach(async () => void (await member(t, ADA)));

  /** Requests links every 61 seconds, as a stranger can who knows the address. */
  const flood = async (requests: number): Promise<void> => {
    for (let i = 0; i < requests; i++) {
      t.clock.advance(61);
      await forgot();
      await t.calm();
    }
  };

  it('are up to three: further requests mail nothing and end none, until one has expired', async () => {
    const own = await mailed();
    const answer = (await forgot()).text;
    t.clock.advance(61);
    await mailed();
    t.clock.advance(61);
    await mailed();
    await flood(5);
    expect(mailbox.mails).toHaveLength(3);
    expect((await forgot()).text).toBe(answer);
    t.clock.advance(120);
    expect(await reset(own)).toBe(200);
  });

  it('are ended by the first use of one of them', async () => {
    const links: string[] = [];
    for (let i = 0; i < 3; i++) {
      links.push(await mailed());
      t.clock.advance(61);
    }
    expect(await reset(links[1]!)).toBe(200);
    for (const other of [links[0]!, links[2]!]) expect(await reset(other)).toBe(422);
  });

  it('leave room for the next one when a link has expired, or belongs to a former address or password', async () => {
    for (let i = 0; i < 3; i++) {
      await mailed();
      t.clock.advance(61);
    }
    await flood(1);
    expect(mailbox.mails).toHaveLength(3);
    t.clock.advance(600 - 4 * 61 + 1);
    await mailed();
    for (const change of ["email = 'eve@example.com'", `email = '${ADA}', password_hash = 'another'`]) {
      await t.database.query(`UPDATE members SET ${change}`);
      t.clock.advance(61);
      const [{ email }] = await t.database.query('SELECT email FROM members');
      const before = mailbox.mails.length;
      await t.http.post('/auth/forgot-password').send({ email }).expect(200);
      await mailbox.nth(before + 1);
    }
  });

  it('do not include a link whose mail failed, which is valid if it has arrived', async () => {
    const failed: string[] = [];
    mailbox.deliver = async (mail) => {
      failed.push(linkIn(mail).searchParams.get('token')!);
      throw new Error('the connection was lost after the mail');
    };
    for (let i = 1; i <= 3; i++) {
      await flood(1);
      await eventually(async () => failed.length === i);
    }
    mailbox.deliver = async () => undefined;
    t.clock.advance(61);
    await mailed();
    expect(await reset(failed[2]!)).toBe(200);
  });
});

describe('two applications on one user table', () => {
  const brokers = { staff: { expireMinutes: 180, throttleSeconds: 5 }, kiosk: {} };
  const customers = hostForFile({ expireMinutes: 10, brokers });
  const staff = hostForFile({ expireMinutes: 10, brokers, broker: 'staff' }, () => customers.t);
  const kiosk = hostForFile({ expireMinutes: 10, brokers, broker: 'kiosk' }, () => customers.t);
  beforeEach(async () => void (await member(staff.t, ADA)));

  it('have a broker each, with its own validity, pause and links', async () => {
    const [customer, employee] = [await customers.mailed(), await staff.mailed()];
    expect(await staff.reset(customer)).toBe(422);
    expect(await customers.reset(employee)).toBe(422);
    staff.t.clock.advance(6);
    const newer = await staff.mailed();
    staff.t.clock.advance(180 * 60 - 1);
    expect(await staff.reset(newer)).toBe(200);
  });

  it.each([
    ['a reset', async (newer: string) => expect(await staff.reset(newer)).toBe(200)],
    [
      'a change of the password',
      async () => {
        const { access_token: token } = await staff.t.session();
        const body = { current_password: PASSWORD, password: 'another-battery-staple' };
        await staff.t
          .call('post', '/auth/password', token)
          .send({ ...body, password_confirmation: body.password })
          .expect(200);
      },
    ],
  ])('have no valid link of any broker after %s', async (_, replace) => {
    const [customer, employee] = [await customers.mailed(), await staff.mailed()];
    await replace(employee);
    expect(await customers.reset(customer)).toBe(422);
    expect(await staff.reset(employee)).toBe(422);
  });

  it('share the values that the entry of a broker omits', async () => {
    const token = await kiosk.mailed();
    expect(kiosk.mailbox.mails[0]!.text).toContain('valid for 10 minutes');
    kiosk.t.clock.advance(601);
    expect(await kiosk.reset(token)).toBe(422);
  });

  it('prune a token only after the validity of its own broker', async () => {
    await customers.t.database.query(
      `INSERT INTO svc_password_resets
       SELECT guard, broker, age::text, 'x', 'x', now() - age * interval '1 minute'
         FROM (VALUES ('api', ''), ('api', 'staff'), ('api', 'unknown'), ('former', '')) AS owner(guard, broker),
              unnest(ARRAY[9, 11, 179, 181]) AS age`,
    );
    await customers.swept();
    const left = await customers.t.database.query(
      `SELECT guard || ' ' || broker AS owner, array_agg(user_id ORDER BY user_id::int) AS ages
         FROM svc_password_resets GROUP BY 1 ORDER BY 1`,
    );
    // Rows of an unknown broker or guard are kept for the maximum validity of a link.
    expect(left).toEqual([
      { owner: 'api ', ages: ['9'] },
      { owner: 'api staff', ages: ['9', '11', '179'] },
      { owner: 'api unknown', ages: ['9', '11', '179', '181'] },
      { owner: 'former ', ages: ['9', '11', '179', '181'] },
    ]);
  });
});
