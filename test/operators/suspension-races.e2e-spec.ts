import { TestApp } from '../support/hosts/app';
import { Mailbox, member, memberOptions } from '../support/hosts/members';
import { mailedCode, sendCode } from '../support/flows/email-code';
import { type SignedInOperator, act, operatorOptions, operatorSession, resetGranted } from '../support/flows/operators';
import { codeOf, completeChallenge, enrol, startChallenge } from '../support/flows/two-factor';
import { ADA } from '../support/hosts/user-entities';

/** More by hand: SUSPENSION_ROUNDS=200. */
const ROUNDS = Number(process.env.SUSPENSION_ROUNDS ?? 2);

describe('a suspension on one node while the other one starts sessions', () => {
  const mailbox = new Mailbox();
  const options = operatorOptions(memberOptions(mailbox, { features: { twoFactor: true, emailCode: true } }));
  let [t, other]: TestApp[] = [];
  let operator: SignedInOperator;
  let user: string;

  beforeAll(async () => {
    t = await TestApp.start({ options });
    other = await TestApp.start({ options, databaseUrl: t.databaseUrl });
  });
  afterAll(async () => {
    await other?.stop();
    await t?.stop();
  });
  /** Each round begins with empty stores, so that neither a limit nor an old confirmation ends it. */
  async function begin(): Promise<void> {
    await t!.reset();
    mailbox.clear();
    resetGranted();
    await t!.person('root@example.com', 'admin');
    operator = await operatorSession(t!);
    user = await member(t!, ADA, { emailVerifiedAt: new Date(0) });
  }

  /** Prepares a request of the user to the other node, and returns the function that sends it. */
  const ways: [string, () => Promise<() => PromiseLike<{ status: number; body: Record<string, string> }>>][] = [
    ['a login', async () => () => other!.login(ADA)],
    [
      'a refresh',
      async () => {
        const { refresh_token: token } = await t!.session();
        return () => other!.refresh(token);
      },
    ],
    [
      'a mailed code',
      async () => {
        const code = await mailedCode(t!, mailbox);
        return () => sendCode(other!, code);
      },
    ],
    [
      'a session of the host',
      async () => async () => {
        const tokens = await other!.auth.startSession(user).catch(() => null);
        return { status: tokens ? 200 : 401, body: { access_token: tokens?.accessToken ?? '' } };
      },
    ],
    [
      'a session of an operator',
      async () => {
        const another = await operatorSession(t!);
        return () => act(other!, another, user, 'act');
      },
    ],
    [
      'a second factor',
      async () => {
        const { secret } = await enrol(t!, ADA);
        const challenge = await startChallenge(t!, ADA);
        return () => completeChallenge(other!, { challenge_token: challenge, code: codeOf(t!, secret, 1) });
      },
    ],
  ];

  it.each(ways)('leaves nothing alive after %s', async (_, prepare) => {
    for (let round = 0; round < ROUNDS; round++) {
      await begin();
      const send = await prepare();
      // From one side, together, and from the other side.
      const suspending = (): Promise<unknown> => Promise.resolve(act(t!, operator, user, 'suspend').expect(204));
      const [answer] = await Promise.all(round % 2 ? [send(), suspending()] : [suspending().then(send), null]);
      const { access_token: token, refresh_token: refresh } = (answer as { body: Record<string, string> }).body;
      for (const node of [t!, other!]) {
        if (token) await node.get('/private', token).expect(401);
        if (refresh) await node.refresh(refresh).expect(401);
      }
      const live = await t!.database.query(
        'SELECT 1 FROM svc_sessions WHERE guard = $1 AND user_id = $2 AND revoked_at IS NULL',
        ['api', user],
      );
      expect(live).toEqual([]);
    }
  });
});
