import type { Tokens } from '../support/hosts/app';
import type { Answer } from '../support/hosts/processes';
import { codeAt, secretIn, stepOf } from '../support/flows/totp';
import { Account, type Call, type Node, TwoNodes } from './nodes';

export const NEXT = 'another horse entirely';
export const chosen = (password = NEXT) => ({ password, password_confirmation: password });

/** The duration of a time step of a one-time password in seconds. */
const STEP = 30;

/** A user with this role must have a second factor. */
export const STAFF = 'staff';

export const statuses = (answers: { status: number }[]): number[] => answers.map(({ status }) => status).toSorted();

/** What a flow works with: the two nodes, and an account that no other flow has. */
export class Flow {
  readonly nodes = new TwoNodes();
  user!: Account;

  get a(): Node {
    return this.nodes.a;
  }

  get b(): Node {
    return this.nodes.b;
  }

  async begin(): Promise<void> {
    this.user = await this.account();
  }

  /** Creates an account with a verified address. */
  account(role = 'customer'): Promise<Account> {
    return Account.create(this.nodes, { emailVerifiedAt: new Date(0), role });
  }

  /** Sends a request to the first node and, at the same time, the same or another one to the second node. */
  atOnce(first: Call, second = first, user = this.user): Promise<Answer[]> {
    return Promise.all([user.ask(this.a, first), user.ask(this.b, second)]);
  }

  /** The same as {@link atOnce}. One of the two requests must succeed and the other one be refused with 422. */
  async once(success: number, first: Call, second = first, user = this.user): Promise<Answer['body']> {
    const answers = await this.atOnce(first, second, user);
    expect(statuses(answers)).toEqual([success, 422]);
    return answers.find(({ status }) => status === success)!.body;
  }

  /** The session is accepted on both nodes. */
  async expectLiving(accessToken: string): Promise<void> {
    for (const node of this.nodes.all) await this.user.guarded(node, accessToken);
  }

  /** The session is refused on both nodes, with its access token and with its refresh token. */
  async expectEnded(session: Tokens): Promise<void> {
    for (const node of this.nodes.all) {
      await this.user.guarded(node, session.access_token, 401);
      await this.user.refresh(node, session.refresh_token, 401);
    }
  }

  /** Enrols a second factor. */
  async enrol(): Promise<{ secret: string; recoveryCodes: string[] }> {
    const { a, b, user } = this;
    const { access_token: token } = await user.session(a);
    const proof = await user.confirm(b, token);
    const begun = await user.call(a, 200, { path: '/auth/two-factor', token, proof });
    const secret = secretIn(begun.otpauth_uri!);
    await user.call(b, 204, { path: '/auth/two-factor/confirm', body: { code: this.codeOf(secret) }, token, proof });
    this.nodes.advance(STEP);
    return { secret, recoveryCodes: begun.recovery_codes as unknown as string[] };
  }

  /** The code of the present time step. */
  codeOf(secret: string): string {
    return codeAt(secret, stepOf(this.b.t.clock));
  }
}
