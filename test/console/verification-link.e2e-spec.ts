import { Application } from '../../libs/auth/src/console/application';
import { VerificationLinkCommand } from '../../libs/auth/src/console/verification-link.command';
import type { TestApp } from '../support/app';
import { ADA } from '../support/confirming';
import { API_URL, type Mailbox, linkIn, member, startMembers } from '../support/members';
import { PASSWORD } from '../support/people';

describe('svc:verification-link', () => {
  let t: TestApp;
  let mailbox: Mailbox;
  let [stdout, stderr] = ['', ''];

  async function start(features = {}): Promise<void> {
    ({ t, mailbox } = await startMembers({ features, emailVerification: { blockUnverifiedLogin: true } }));
    await member(t, ADA);
  }
  beforeEach(() => {
    [stdout, stderr] = ['', ''];
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((stdout += String(text))));
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((stderr += String(text))));
  });
  afterEach(async () => {
    process.exitCode = undefined;
    jest.restoreAllMocks();
    await t.stop();
  });

  async function run(identifier: string): Promise<unknown> {
    const application = new Application(t.app as never, async () => ({
      get: t.app.get.bind(t.app),
      close: async () => undefined,
    }));
    await new VerificationLinkCommand(application).run([identifier]);
    return process.exitCode;
  }

  it('mails a blocked account another link, which lets it sign in', async () => {
    await start();
    await t.login(ADA, PASSWORD).expect(403);
    expect([await run(' ADA@example.com '), stderr]).toEqual([undefined, '']);
    expect(stdout).toBe(`Mailed a link to ${ADA}.\n`);
    expect(mailbox.mails).toMatchObject([{ to: ADA, subject: expect.stringMatching(/^Confirm/) }]);
    await t.http.get(linkIn(mailbox.mails[0]!).href.replace(API_URL, '')).expect(204);
    await t.login(ADA, PASSWORD).expect(200);
  });

  it.each<[string, string, RegExp, () => Promise<unknown>]>([
    ['nobody signs in so', 'bob@example.com', /No account signs in as "bob@example.com"/, async () => undefined],
    [
      'the address is verified',
      ADA,
      /Nothing was mailed: the address of "ada@example.com" is verified/,
      () => t.database.query('UPDATE members SET email_verified_at = now()'),
    ],
  ])('exits with 1 when %s', async (_, identifier, message, prepare) => {
    await start();
    await prepare();
    expect(await run(identifier)).toBe(1);
    expect(stderr).toMatch(message);
    expect([stdout, mailbox.mails]).toEqual(['', []]);
  });

  it('exits with 1 when the feature is off', async () => {
    await start({ emailVerification: false });
    expect(await run(ADA)).toBe(1);
    expect(stderr).toBe('features.emailVerification is off.\n');
  });

  it('fails when the mail server does', async () => {
    await start();
    mailbox.deliver = () => Promise.reject(new Error('no route to host'));
    await expect(run(ADA)).rejects.toThrow('no route to host');
    expect([process.exitCode, stdout]).toEqual([1, '']);
  });
});
