import { type AuthModuleOptions, SecurityStore } from '@svc/auth';
import type { TestApp } from '../hosts/app';
import { type Mailbox, linkIn, member, membersForFile } from '../hosts/members';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from './step-up';

export const NEW = 'ada@new.example';

/** A host with the change of email, and a verified member who can use it. */
export class EmailChangeApp {
  id!: string;
  token!: string;
  proof!: string;

  private constructor(
    readonly t: TestApp,
    readonly mailbox: Mailbox,
  ) {}

  /** One host for a whole file, or for a `describe` block. Each test has a new member. */
  static forFile(options: Partial<AuthModuleOptions> = {}): EmailChangeApp {
    const { t, mailbox } = membersForFile({ ...options, features: { emailChange: true, ...options.features } });
    const app = new EmailChangeApp(t, mailbox);
    beforeEach(async () => {
      app.id = await member(t, ADA, { emailVerifiedAt: new Date(0) });
      await app.signIn();
    });
    afterEach(() => app.settled());
    return app;
  }

  /** Waits until the mails of all requests are sent: a mail waits for PostgreSQL and for Redis. */
  async settled(): Promise<void> {
    for (let turns = 0; turns < 3; turns++) {
      await this.t.calm();
      await this.t.app.get(SecurityStore).getMany(['svc:none']);
    }
  }

  /** Starts a session, which the requests use from now on. */
  async signIn(email = ADA): Promise<void> {
    this.token = (await this.t.session(email)).access_token;
    this.proof = await confirmationTokenOf(this.t, this.token);
  }

  request(email: unknown = NEW, token = this.token, proof = this.proof) {
    return this.t.call('post', '/auth/email/change', token).set(CONFIRMATION_HEADER, proof).send({ email });
  }

  confirm(token: unknown) {
    return this.t.http.post('/auth/email/change/confirm').send({ token });
  }

  undo(token: unknown) {
    return this.t.http.post('/auth/email/change/undo').send({ token });
  }

  /** The token of the newest mail to an address, the mail with this number. */
  async tokenTo(email: string, number = 1): Promise<string> {
    return linkIn(await this.mailTo(email, number)).searchParams.get('token')!;
  }

  /** The mail with this number to an address, counted from 1. Waits for it. */
  async mailTo(email: string, number = 1) {
    for (let more = 1; ; more++) {
      const mails = this.mailbox.mails.filter(({ to }) => to === email);
      if (mails.length >= number) return mails[number - 1]!;
      await this.mailbox.nth(this.mailbox.mails.length + 1);
      if (more > 20) throw new Error(`no mail ${number} to ${email}`);
    }
  }

  /** Asks for a change, and returns the token that confirms it. */
  async requested(email = NEW): Promise<string> {
    const before = this.mailbox.mails.filter(({ to }) => to === email).length;
    await this.request(email).expect(202);
    return this.tokenTo(email, before + 1);
  }

  /** Changes the email, and returns the token that undoes it. */
  async changed(to = NEW, from = ADA): Promise<string> {
    const before = this.mailbox.mails.filter((mail) => mail.to === from).length;
    await this.confirm(await this.requested(to)).expect(200);
    return this.tokenTo(from, before + 1);
  }

  /** Sets a new password with the reset link in the mail with this number to the former address. */
  async reset(number: number, password: string) {
    const body = { email: ADA, token: await this.tokenTo(ADA, number), password, password_confirmation: password };
    return this.t.http.post('/auth/reset-password').send(body);
  }

  /** The email of the member, and whether it is verified. */
  async stored(id = this.id): Promise<{ email: string; verified: boolean } | undefined> {
    const [row] = await this.t.database.query(
      'SELECT email, email_verified_at IS NOT NULL AS verified FROM members WHERE id = $1',
      [id],
    );
    return row;
  }

  /** The states of all changes, the oldest first. */
  async states(): Promise<string[]> {
    const rows = await this.t.database.query('SELECT state FROM svc_email_changes ORDER BY requested_at');
    return rows.map(({ state }: { state: string }) => state);
  }

  /** The id of the newest change. */
  async changeId(): Promise<string> {
    const [{ id }] = await this.t.database.query('SELECT id FROM svc_email_changes ORDER BY requested_at DESC LIMIT 1');
    return id;
  }

  living(): Promise<object[]> {
    return this.t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NULL');
  }
}
