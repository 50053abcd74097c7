import { type AuthModuleOptions, type Mail, SecurityStore } from '@svc/auth';
import type { Type } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { TestApp, type Tokens } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { DEVICE_HEADER } from '../support/flows/known-devices';
import { Mailbox, member, memberOptions } from '../support/hosts/members';
import { PASSKEYS } from '../support/flows/passkeys';
import { type Answer, send } from '../support/hosts/processes';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { type Member, PASSWORD } from '../support/hosts/user-entities';
import type { RunningEngine, StoreConnection } from './engine';

/** A request to a node. */
export interface Call {
  method?: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: object;
  token?: string;
  /** A confirmation token. */
  proof?: string;
  /** The token of a known device. */
  device?: string;
}

/** An application instance on the stores of an engine. */
export class Node {
  private constructor(
    readonly name: string,
    readonly t: TestApp,
    private readonly url: string,
    private readonly store: StoreConnection,
  ) {}

  static async start(
    name: string,
    engine: RunningEngine,
    options: Partial<AuthModuleOptions>,
    controllers?: Type[],
  ): Promise<Node> {
    const store = await engine.connect();
    const all = { ...options, ...engine.options, cache: store.cache as never };
    const t = await TestApp.start({
      databaseUrl: engine.databaseUrl,
      ...(engine.replicaUrl && { replicaUrl: engine.replicaUrl }),
      // The engine has its own connection.
      redisUrl: '',
      behindProxy: true,
      ...(controllers && { controllers }),
      options: all,
    });
    return new Node(name, t, await t.app.getUrl(), store);
  }

  /** @param client the address of the client, which counts for rate limits */
  send({ method = 'POST', path, body, token, proof, device }: Call, client = '10.0.0.1'): Promise<Answer> {
    const headers = {
      'X-Forwarded-For': client,
      ...(proof && { [CONFIRMATION_HEADER]: proof }),
      ...(device && { [DEVICE_HEADER]: device }),
    };
    return send(this.url + path, method, body, token, headers);
  }

  async stop(): Promise<void> {
    await this.t.stop();
    await this.store.close();
  }
}

/** Two application instances on the stores of one engine. */
export class TwoNodes {
  readonly mailbox = new Mailbox();
  private engine?: RunningEngine;
  private both: Node[] = [];

  /**
   * @param options options of both nodes
   * @param controllers those of both nodes, in place of the usual ones
   */
  async start(engine: RunningEngine, options: Partial<AuthModuleOptions>, controllers?: Type[]): Promise<void> {
    this.engine = engine;
    const features = { twoFactor: true, passkeys: true, lockout: true, ...options.features };
    const all = memberOptions(this.mailbox, { passkeys: PASSKEYS.passkeys!, ...options, features });
    for (const name of ['A', 'B']) this.both.push(await Node.start(name, engine, all, controllers));
  }

  get a(): Node {
    return this.both[0]!;
  }

  get b(): Node {
    return this.both[1]!;
  }

  get all(): readonly Node[] {
    return this.both;
  }

  /** Moves the clocks of both nodes. */
  advance(seconds: number): void {
    for (const { t } of this.both) t.clock.advance(seconds);
  }

  /** Records the events of a class on both nodes. */
  recorded<E extends object>(event: Type<E>): E[] {
    const events: E[] = [];
    for (const { t } of this.both) t.on(event, (one) => events.push(one));
    return events;
  }

  /** The mails to an address with this text, the oldest first. */
  mailsTo(address: string, text: string): Mail[] {
    return this.mailbox.mails.filter((mail) => mail.to === address && mail.text.includes(text));
  }

  /** Waits for the mail to an address with this text that has this number, counted from 1. */
  async mailTo(address: string, text: string, number = 1): Promise<Mail> {
    await eventually(async () => this.mailsTo(address, text).length >= number);
    return this.mailsTo(address, text)[number - 1]!;
  }

  /** Waits until both nodes have finished what follows their answers. */
  async calm(): Promise<void> {
    for (let turns = 0; turns < 3; turns++) {
      for (const { t } of this.both) {
        await t.calm();
        await t.app.get(SecurityStore).getMany(['svc:none']);
      }
    }
  }

  async stop(): Promise<void> {
    for (const node of this.both.splice(0)) await node.stop();
    await this.engine?.stop();
  }
}

let clients = 0;

/** An account and the address of its client, which no other account has. */
export class Account {
  readonly email = `${randomUUID()}@example.com`;
  readonly address = `10.1.${++clients >> 8}.${clients & 255}`;
  password = PASSWORD;
  /** Empty until the account is created. */
  id = '';

  /** Creates an account in the database. */
  static async create(nodes: TwoNodes, more: Partial<Member> = {}): Promise<Account> {
    const account = new Account();
    account.id = await member(nodes.a.t, account.email, more);
    return account;
  }

  /** @returns the answer, whatever its status */
  ask(node: Node, call: Call): Promise<Answer> {
    return node.send(call, this.address);
  }

  /** @throws if the status is not the expected one */
  async call(node: Node, status: number, call: Call): Promise<Answer['body']> {
    const answer = await this.ask(node, call);
    expect({ ...call, status: answer.status, body: answer.body }).toMatchObject({ status });
    return answer.body;
  }

  login(node: Node, status = 200, password = this.password): Promise<Answer['body']> {
    return this.call(node, status, this.loginWith({}, password));
  }

  /** The request of a login with further fields. */
  loginWith(more: object, password = this.password): Call {
    return { path: '/auth/login', body: { email: this.email, password, ...more } };
  }

  async session(node: Node): Promise<Tokens> {
    return (await this.login(node)) as unknown as Tokens;
  }

  guarded(node: Node, token: string, status = 200): Promise<Answer['body']> {
    return this.call(node, status, { method: 'GET', path: '/private', token });
  }

  async refresh(node: Node, token: string, status = 200): Promise<Tokens> {
    return (await this.call(node, status, refreshOf(token))) as unknown as Tokens;
  }

  /** A confirmation token for the session of `token`. */
  async confirm(node: Node, token: string): Promise<string> {
    const call: Call = { path: '/auth/confirm-password', body: { password: this.password }, token };
    return (await this.call(node, 200, call)).confirmation_token!;
  }
}

export const refreshOf = (token: string): Call => ({ path: '/auth/refresh', body: { refresh_token: token } });
