import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tokens } from '../support/hosts/app';
import { linkIn } from '../support/hosts/members';
import type { Answer } from '../support/hosts/processes';
import { codeAt, secretIn, stepOf } from '../support/flows/totp';
import type { Load } from './load';
import { Account, type Call, type Node, refreshOf } from './nodes';

/** A session and the state that its customer knows. */
interface Held extends Tokens {
  /** It was started when a kill could lose commits: it may be refused later. */
  isFragile: boolean;
}

/** An answer that is not 503, after repetitions. */
interface Settled extends Answer {
  /** Whether an earlier answer was 503, so that the operation may have been completed before. */
  isRepeated: boolean;
}

const MAX_LIVE = 5;
const MAX_ENDED = 12;

/** The longest time in milliseconds for which a customer repeats a request. */
const PATIENCE_MS = 60_000;

/** The generation in a refresh token: base64url of version, session and generation (1, 16 and 4 bytes), then the MAC. */
const generationOf = (token: string): number => Buffer.from(token, 'base64url').readUInt32BE(17);

/**
 * A client that works with one account, repeats every 503, and remembers what was acknowledged. An answer that
 * contradicts it is reported.
 */
export class Customer {
  private live: Held[] = [];
  private ended: Tokens[] = [];
  /** One password, or two while it is unknown which one is in force. */
  private passwords: string[];
  private codes: string[] = [];
  private spent: string[] = [];
  private changes = 0;
  private isBusy = false;
  private isChanging = false;

  private constructor(
    private readonly load: Load,
    private readonly account: Account,
  ) {
    this.passwords = [account.password];
  }

  static async start(load: Load, hasSecondFactor: boolean): Promise<Customer> {
    const customer = new Customer(load, await Account.create(load.nodes));
    await customer.signIn();
    if (hasSecondFactor) await customer.enrol();
    return customer;
  }

  /** Whether an operation is running. */
  get busy(): boolean {
    return this.isBusy;
  }

  /** Whether an operation is running whose loss changes the account. */
  get changing(): boolean {
    return this.isChanging;
  }

  async run(): Promise<void> {
    const often = [this.read, this.readEnded, this.refresh, this.refreshTwice, this.guess];
    const some = [this.signIn, this.logOut, this.logOutOthers, this.logOutEverywhere];
    const changes = [this.changePassword, this.reset, this.comeAndGo];
    while (!this.load.isOver) {
      const kind = randomInt(12);
      this.isChanging = kind === 0 && !this.load.isLossy;
      const kinds = this.isChanging ? changes : kind < 4 ? some : often;
      this.isBusy = !this.load.isPaused;
      if (this.isBusy) {
        if (this.live.length === 0) await this.signIn();
        if (this.live.length > 0) await kinds[randomInt(kinds.length)]!.call(this);
      }
      this.isBusy = this.isChanging = false;
      await sleep(randomInt(5, 20));
    }
  }

  /** Checks everything that was acknowledged, on both nodes. */
  async check(): Promise<void> {
    const { nodes } = this.load;
    for (const node of nodes.all) {
      for (const one of this.ended) {
        await this.expect([401], { method: 'GET', path: '/private', token: one.access_token }, 'ended session', node);
        await this.expect([401], refreshOf(one.refresh_token), 'ended session', node);
      }
      for (const one of this.live) {
        await this.use(one, { method: 'GET', path: '/private', token: one.access_token }, node);
        await this.renew(one, node);
      }
      for (const recovery_code of this.spent) {
        const { status, body } = await this.passwordLogin();
        if (status !== 200) continue;
        const answer = { path: '/auth/two-factor-challenge', body: { ...body, recovery_code } };
        await this.expect([422], answer, 'used recovery code', node);
      }
    }
    this.load.counts.checks += this.ended.length + this.live.length + this.spent.length;
  }

  private async read(): Promise<void> {
    const one = this.any();
    await this.use(one, { method: 'GET', path: '/private', token: one.access_token });
  }

  private async readEnded(): Promise<void> {
    const one = this.ended[randomInt(this.ended.length + 1)];
    if (!one) return;
    const guarded: Call = { method: 'GET', path: '/private', token: one.access_token };
    await this.once([401, 503], randomInt(2) ? guarded : refreshOf(one.refresh_token), 'ended session');
  }

  private refresh(): Promise<void> {
    return this.renew(this.any());
  }

  /** Refreshes with one token on both nodes at the same time. */
  private async refreshTwice(): Promise<void> {
    const one = this.any();
    const call = refreshOf(one.refresh_token);
    const answers = await Promise.all(this.load.nodes.all.map((node) => this.use(one, call, node)));
    const successors = new Set(answers.flatMap((answer) => (answer ? [answer.body.refresh_token] : [])));
    if (successors.size > 1) this.load.report('two successors of one refresh token');
    for (const answer of answers) if (answer) this.take(one, answer);
  }

  private async renew(one: Held, node?: Node): Promise<void> {
    const answer = await this.use(one, refreshOf(one.refresh_token), node);
    if (answer) this.take(one, answer);
  }

  private async guess(): Promise<void> {
    const body = { email: this.account.email, password: 'wrong' };
    await this.once([422, 503], { path: '/auth/login', body }, 'wrong password');
  }

  private async signIn(): Promise<void> {
    const { isLossy: isFragile, epoch } = this.load;
    if (this.codes.length > 0) {
      // A kill that loses commits would lose which codes exist and which are used.
      if (isFragile) return;
      this.isChanging = true;
    }
    const answer = await this.passwordLogin();
    if (answer.status !== 200) return;
    const tokens = answer.body.challenge_token ? await this.secondStep(answer.body, epoch) : answer.body;
    if (tokens) this.live.push({ ...(tokens as unknown as Tokens), isFragile: isFragile || this.load.isLossy });
    if (this.live.length > MAX_LIVE) await this.logOut();
  }

  /** Signs in with the password that is in force. */
  private async passwordLogin(): Promise<Settled> {
    let answer!: Settled;
    for (const password of this.passwords) {
      answer = await this.ask({ path: '/auth/login', body: { email: this.account.email, password } });
      if (answer.status !== 200) continue;
      this.passwords = [password];
      return answer;
    }
    this.load.report(`login: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Answers a challenge with a recovery code. */
  private async secondStep(challenge: object, epoch: number): Promise<Answer['body'] | null> {
    const recovery_code = this.codes.shift();
    const answer = await this.ask({ path: '/auth/two-factor-challenge', body: { ...challenge, recovery_code } });
    if (answer.status === 200) {
      this.spent = [...this.spent, recovery_code!].slice(-3);
      if (this.codes.length < 4) await this.renewCodes(answer.body.access_token!);
      return answer.body;
    }
    // The code may have been used by an earlier request, and a restarted store has lost the challenge.
    if (answer.isRepeated || epoch % 2 === 1 || epoch !== this.load.epoch) return null;
    this.load.report(`second step: ${answer.status} ${JSON.stringify(answer.body)}`);
    return null;
  }

  private async renewCodes(token: string): Promise<void> {
    const { body, status } = await this.ask({
      path: '/auth/two-factor/recovery-codes',
      token,
      proof: await this.prove(token),
    });
    if (status !== 200) return this.load.report(`recovery codes: ${status}`);
    this.codes = body.recovery_codes as unknown as string[];
    this.spent = [];
  }

  private async enrol(): Promise<void> {
    const { access_token: token } = this.any();
    const proof = await this.prove(token);
    const { body } = await this.ask({ path: '/auth/two-factor', token, proof });
    const code = codeAt(secretIn(body.otpauth_uri!), stepOf(this.load.nodes.a.t.clock));
    await this.expect([204], { path: '/auth/two-factor/confirm', token, proof, body: { code } }, 'enrolment');
    this.codes = body.recovery_codes as unknown as string[];
  }

  private async prove(token: string): Promise<string> {
    const call = { path: '/auth/confirm-password', token, body: { password: this.passwords[0] } };
    const { status, body } = await this.ask(call);
    if (status !== 200) this.load.report(`confirmation: ${status}`);
    return body.confirmation_token ?? '';
  }

  private async logOut(): Promise<void> {
    const one = this.any();
    const answer = await this.use(one, { path: '/auth/logout', token: one.access_token }, undefined, [204], true);
    if (answer || this.isGone(one)) this.remember([one]);
  }

  private async logOutOthers(): Promise<void> {
    const one = this.any();
    const call: Call = { method: 'DELETE', path: '/auth/sessions/others', token: one.access_token };
    if (await this.use(one, call, undefined, [204])) this.endAll(one);
  }

  private async logOutEverywhere(): Promise<void> {
    const one = this.any();
    const call: Call = { method: 'DELETE', path: '/auth/sessions', token: one.access_token };
    if (await this.use(one, call, undefined, [204], true)) return this.endAll();
    // An earlier request has ended the session, and perhaps others: a new session ends those that are left.
    const others = this.live.filter((other) => other !== one && !other.isFragile);
    this.remember([one]);
    this.live = [];
    await this.signIn();
    if (this.live.length === 0) return;
    await this.logOutEverywhere();
    this.remember(others);
  }

  private async changePassword(): Promise<void> {
    const one = this.any();
    const [current] = this.passwords;
    const next = this.nextPassword();
    const body = { current_password: current, password: next, password_confirmation: next };
    this.passwords = [next, current!];
    const answer = await this.use(
      one,
      { path: '/auth/password', body, token: one.access_token },
      undefined,
      [200, 422],
    );
    if (answer?.status === 200) {
      this.passwords = [next];
      this.endAll(one);
    } else {
      if (answer && !answer.isRepeated) this.load.report('change of the password: 422');
      await this.forgetSessions();
    }
  }

  private async reset(): Promise<void> {
    const { email } = this.account;
    const { mailbox } = this.load.nodes;
    const [current] = this.passwords;
    const next = this.nextPassword();
    const before = mailbox.mails.length;
    await this.expect([200], { path: '/auth/forgot-password', body: { email } }, 'forgotten password');
    const isOurs = ({ to, text }: { to: string; text: string }) => to === email && text.includes('token=');
    // A mail of an earlier request may be missing: links are sent at most once a minute, after the answer.
    const mail = mailbox.mails.slice(before).find(isOurs) ?? mailbox.mails.findLast(isOurs);
    if (!mail) return;
    const token = linkIn(mail).searchParams.get('token');
    this.passwords = [next, current!];
    const body = { email, token, password: next, password_confirmation: next };
    const answer = await this.ask({ path: '/auth/reset-password', body });
    if (answer.status === 200) {
      this.passwords = [next];
      this.endAll();
    } else {
      // The link was used before, or by an earlier request.
      if (answer.status !== 422) this.load.report(`reset: ${answer.status}`);
      if (!answer.isRepeated) this.passwords = [current!];
      else await this.forgetSessions();
    }
  }

  /** Registers another account, reads its data and deletes it. */
  private async comeAndGo(): Promise<void> {
    const { email, password } = new Account();
    const body = { name: 'Bob', email, password, password_confirmation: password };
    const registered = await this.ask({ path: '/auth/register', body });
    // 201: the account is stored, but a store was not available for its session.
    const isStored = registered.status === 201 || (registered.status === 422 && registered.isRepeated);
    const started = isStored ? await this.ask({ path: '/auth/login', body: { email, password } }) : registered;
    if (started.status !== 200) return this.load.report(`registration: ${registered.status}, ${started.status}`);
    const tokens = started.body as unknown as Tokens;
    const token = tokens.access_token;
    const { status, body: confirmed } = await this.ask({ path: '/auth/confirm-password', token, body: { password } });
    if (status !== 200) return this.load.report(`confirmation of a new account: ${status}`);
    const proof = confirmed.confirmation_token!;
    await this.expect([200], { method: 'GET', path: '/auth/account/export', token, proof }, 'export');
    const deleted = await this.ask({ method: 'DELETE', path: '/auth/account', token, proof });
    if (deleted.status !== 204 && !(deleted.status === 401 && deleted.isRepeated))
      return this.load.report(`deletion: ${deleted.status}`);
    this.remember([tokens]);
    if (deleted.status === 204)
      await this.expect([422], { path: '/auth/login', body: { email, password } }, 'deleted account');
  }

  private nextPassword(): string {
    return `correct-horse-${this.account.email.slice(0, 8)}-${++this.changes}`;
  }

  /**
   * Ends all sessions, because it is unknown which of them an earlier request has ended. A change of the password that was
   * answered 503 may end sessions until its work has settled, also those that begin meanwhile.
   */
  private async forgetSessions(): Promise<void> {
    this.live = [];
    for (const { t } of this.load.nodes.all) await t.auth.settled();
    await this.signIn();
    if (this.live.length > 0) await this.logOutEverywhere();
  }

  private any(): Held {
    return this.live[randomInt(this.live.length)]!;
  }

  private isGone(one: Held): boolean {
    return !this.live.includes(one);
  }

  /**
   * Ends all sessions except one. A fragile session may have no row any more, so that the library does not know it: its
   * access token is valid until it expires, unless the session itself was signed out.
   */
  private endAll(except?: Held): void {
    const others = this.live.filter((one) => one !== except);
    this.remember(others.filter((one) => !one.isFragile));
    this.live = this.live.filter((one) => one === except);
  }

  /** Remembers sessions that have ended. No node accepts them any more. */
  private remember(sessions: readonly Tokens[]): void {
    this.load.counts.ends += sessions.length;
    this.ended = [...this.ended, ...sessions].slice(-MAX_ENDED);
    this.live = this.live.filter((one) => !sessions.includes(one));
  }

  private take(one: Held, { body }: Answer): void {
    this.load.counts.refreshes++;
    const [former, next] = [generationOf(one.refresh_token), generationOf(body.refresh_token!)];
    if (next < former) this.load.report(`the refresh token of generation ${former} has the successor ${next}`);
    Object.assign(one, body);
  }

  /**
   * Sends a request of a live session. Null if its session has ended: this is correct for a fragile session, and for a
   * repeated request that ends its session.
   */
  private async use(one: Held, call: Call, node?: Node, expected = [200], isEnd = false): Promise<Settled | null> {
    const answer = await this.ask(call, node);
    if (expected.includes(answer.status)) return answer;
    if (answer.status === 401 && (one.isFragile || (isEnd && answer.isRepeated))) {
      this.live = this.live.filter((other) => other !== one);
      return null;
    }
    this.load.report(
      `live session: ${call.method ?? 'POST'} ${call.path} ${answer.status} ${JSON.stringify(answer.body)}`,
    );
    this.live = this.live.filter((other) => other !== one);
    return null;
  }

  private async expect(expected: number[], call: Call, what: string, node?: Node): Promise<void> {
    const { status } = await this.ask(call, node);
    if (!expected.includes(status)) this.load.report(`${what}: ${call.method ?? 'POST'} ${call.path} ${status}`);
  }

  /** Sends a request without repetition. */
  private async once(expected: number[], call: Call, what: string): Promise<void> {
    const { status } = await this.send(call);
    if (!expected.includes(status)) this.load.report(`${what}: ${call.method ?? 'POST'} ${call.path} ${status}`);
  }

  /** Repeats a request until the answer is not 503. */
  private async ask(call: Call, node?: Node): Promise<Settled> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let isRepeated = false; ; isRepeated = true) {
      const answer = await this.send(call, node);
      if (answer.status !== 503) return { ...answer, isRepeated };
      if (performance.now() > deadline)
        throw new Error(`${call.path} was answered 503 for ${PATIENCE_MS / 1000} seconds`);
      await sleep(randomInt(20, 60));
    }
  }

  private async send(call: Call, node = this.load.nodes.all[randomInt(2)]!): Promise<Answer> {
    const answer = await this.account.ask(node, call);
    const { counts } = this.load;
    counts.answers++;
    if (answer.status === 503) {
      counts.unavailable++;
      if (!answer.retryAfter) this.load.report(`${call.path}: 503 without Retry-After`);
    } else if (answer.status >= 500 || answer.status === 429) {
      this.load.report(`${call.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer;
  }
}
