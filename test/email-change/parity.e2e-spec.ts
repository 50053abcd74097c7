import { type AuthModuleOptions, SecurityStore } from '@svc/auth';
import type { Response } from 'supertest';
import { EmailChangeApp, NEW } from '../support/flows/email-change';
import { WAITING, hangingMails, member, membersForFile } from '../support/hosts/members';
import { isInRequest, requestStatements } from '../support/stores/request-statements';
import { ADA } from '../support/flows/step-up';
import { PASSWORD } from '../support/hosts/user-entities';

/** The parts of an answer by which a client could distinguish it. */
const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) => ({
  status,
  text,
  headers,
});

/** Records the names of the methods that requests call. */
function requestCalls(store: SecurityStore): string[] {
  const calls: string[] = [];
  const methods = store as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of ['add', 'advance', 'count', 'getMany', 'setMany', 'settle', 'take']) {
    const method = methods[name];
    if (!method) continue;
    jest.spyOn(methods, name).mockImplementation((...args) => {
      if (isInRequest()) calls.push(name);
      return method.apply(store, args);
    });
  }
  return calls;
}

describe('the answer to a request for a change of email', () => {
  const app = EmailChangeApp.forFile({ storeTimeoutMs: 20_000 });
  const { t, mailbox } = app;

  it('has the same bytes and headers for a free, a taken, a deleted and the own address, and for a failing mail server', async () => {
    await member(t, 'taken@example.com', { emailVerifiedAt: new Date() });
    await member(t, 'deleted@example.com', { deletedAt: new Date() });
    const first = await app.request();
    expect(first.status).toBe(202);
    for (const email of ['taken@example.com', 'deleted@example.com', ADA, NEW])
      expect(shape(await app.request(email))).toEqual(shape(first));
    // The sixth mail to the address is not sent.
    for (let i = 0; i < 6; i++) expect(shape(await app.request())).toEqual(shape(first));
    mailbox.deliver = () => Promise.reject(new Error('no route to host'));
    expect(shape(await app.request('other@new.example'))).toEqual(shape(first));
    await app.settled();
  });

  it('needs the same statements and the same calls of Redis for a free, a taken and the own address', async () => {
    await member(t, 'taken@example.com', { emailVerifiedAt: new Date() });
    // Work that runs after the answer must not count, so the mails wait.
    await hangingMails(t, mailbox);
    const statements = requestStatements(t);
    const calls = requestCalls(t.app.get(SecurityStore));
    const work = async (email: string): Promise<string[]> => {
      statements.mockClear();
      calls.length = 0;
      await app.request(email).expect(202);
      return [...statements.mock.calls.map(([text]) => text), ...calls];
    };
    const [free, taken, own] = [await work(NEW), await work('taken@example.com'), await work(ADA)];
    expect(free.filter((text) => text.includes('svc_email_changes'))).toHaveLength(1);
    expect(taken).toEqual(free);
    expect(own).toEqual(free);
    expect(free.filter((text) => text === 'count')).toHaveLength(1);
    mailbox.release();
    for (const email of [NEW, 'taken@example.com']) await app.mailTo(email);
    await app.settled();
    const mails = mailbox.mails.filter(({ to }) => to !== WAITING);
    expect(mails.map(({ to }) => to).toSorted()).toEqual([NEW, 'taken@example.com'].toSorted());
  });
});

const CONCEALING: Partial<AuthModuleOptions> = {
  features: { emailChange: true },
  registration: { concealExisting: true },
  emailVerification: { blockUnverifiedLogin: true },
  storeTimeoutMs: 20_000,
};

describe('a registration that conceals existing accounts', () => {
  const { t, mailbox } = membersForFile(CONCEALING);
  const form = (email: string) => ({ name: 'Eve', email, password: PASSWORD, password_confirmation: PASSWORD });
  const register = (email: string) => t.http.post('/auth/register').send(form(email));

  it('is answered alike for a free address and for the former address of an account, with the same work', async () => {
    await member(t, 'other@example.com', { emailVerifiedAt: new Date() });
    await t.database.query(
      `INSERT INTO svc_email_changes (id, guard, user_id, old_email, old_verified, new_email, state, confirm_hash, undo_hash,
                                      password_fingerprint, requested_at, confirmed_at, expires_at, held_email)
       SELECT gen_random_uuid(), 'api', id, $1, true, email, 'confirmed', 'x', 'y', 'x', now(), now(), now() + interval '1 day', $1
         FROM members`,
      [ADA],
    );
    await hangingMails(t, mailbox);
    const statements = requestStatements(t);
    const work = async (email: string): Promise<{ answer: object; statements: string[] }> => {
      statements.mockClear();
      const answer = shape(await register(email).expect(202));
      const write = /^(INSERT INTO|SELECT 1 FROM pg_logical).*$/s;
      return { answer, statements: statements.mock.calls.map(([text]) => text.replace(write, '$')) };
    };
    const [free, held] = [await work('free@example.com'), await work(ADA)];
    expect(held).toEqual(free);
    mailbox.release();
    await t.calm();
    expect(mailbox.mails.map(({ to }) => to).filter((to) => to === ADA)).toEqual([]);
    expect(await t.database.query('SELECT 1 FROM members WHERE email = $1', [ADA])).toEqual([]);
  });
});
