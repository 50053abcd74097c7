import { MailFailed, nodemailerMailer } from '@svc/auth';
import type { TestApp } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { MailServer } from '../support/mail/mail-server';
import { member, startMembers } from '../support/hosts/members';
import { TcpProxy } from '../support/faults/tcp-proxy';

describe('a mail server', () => {
  const server = new MailServer();
  let proxy: TcpProxy;
  let t: TestApp;
  let failed: MailFailed[];

  beforeAll(async () => {
    proxy = await TcpProxy.to(await server.start());
    const mailer = nodemailerMailer(`smtp://127.0.0.1:${proxy.port}`, 'no-reply@example.com');
    ({ t } = await startMembers({ mail: { mailer } }));
    await member(t, ADA);
    failed = t.recorded(MailFailed);
  });
  afterEach(() => proxy.heal());
  afterAll(async () => {
    await t.stop();
    await proxy.close();
    server.stop();
  });

  const forgot = async (): Promise<void> => {
    // The library sends another mail to the same address only after a minute.
    t.clock.advance(61);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
  };
  const until = (condition: () => boolean): Promise<void> => eventually(async () => condition());

  it.each([
    ['is down', () => proxy.down()],
    ['resets the connection during its answer', () => proxy.resetAfter(20)],
  ])('that %s prevents the mail, and affects neither the response nor the application', async (_, breakDown) => {
    const before = failed.length;
    breakDown();
    await forgot();
    await until(() => failed.length > before);
    await t.login(ADA).expect(200);
    proxy.heal();
    const { taken } = server;
    await forgot();
    await until(() => server.taken > taken);
  });

  it('that hangs delays no response, and gets its mail after it has recovered', async () => {
    const { taken } = server;
    proxy.hang();
    await forgot();
    const name = 'Bob';
    const chosen = { password: 'another horse entirely', password_confirmation: 'another horse entirely' };
    await t.http
      .post('/auth/register')
      .send({ name, email: 'bob@example.com', ...chosen })
      .expect(200);
    expect(server.taken).toBe(taken);
    proxy.heal();
    await until(() => server.taken === taken + 2);
  });
});
