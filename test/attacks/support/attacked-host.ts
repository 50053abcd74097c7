import type { AuthModuleOptions, Mail } from '@svc/auth';
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { onFastify } from '../../support/hosts/adapter';
import { createDatabase } from '../../support/stores/database';
import { eventually } from '../../support/runtime/eventually';
import { UNLIMITED } from '../../support/hosts/host.module';
import { REPORT_URL } from '../../support/flows/known-devices';
import { API_URL, EMAIL_CHANGE, RESET_URL } from '../../support/hosts/members';
import { PASSKEYS } from '../../support/flows/passkeys';
import { PASSWORD } from '../../support/hosts/user-entities';
import { sharedRedisUrl } from '../../support/stores/with-redis';
import { type Expected, problemsOf, problemsOfLog } from './response-checks';
import { type Answer, type RawRequest, RawClient, mapConcurrently } from './raw-client';

/** A signed-in user. */
export interface Visitor {
  id: string;
  email: string;
  guard: string;
  access: string;
  refresh: string;
  /** The stored hash of the password. */
  passwordHash: string;
}

/** The questions that a test can ask the host process. */
export interface HostQuestions {
  /** The routes of the application's router, as `METHOD /path`. */
  routes(): Promise<string[]>;
  visitors(number: number, guard: string, abilities?: string[]): Promise<Visitor[]>;
  mails(): Promise<Mail[]>;
  /** The number of computed hashes, and of statements sent for requests, since the start. */
  work(): Promise<{ hashes: number; queries: number }>;
  /** The properties that `Object.prototype` has gained: none, unless an attack polluted a prototype. */
  inherited(): Promise<string[]>;
}

/** One attack: the request and the allowed results. */
export interface Attack extends Expected {
  /** The name in the report of a successful attack. */
  name: string;
  send: RawRequest;
}

export interface AttackedHostOptions {
  options?: Partial<AuthModuleOptions>;
  /** The host's own limit for a JSON body in bytes. */
  bodyLimit?: number;
  /** Selects Fastify or Express for this host only. */
  fastify?: boolean;
}

/** What the process of the hosts runs: a file, and the options of Node. */
export interface HostProgram {
  file: string;
  execArgv: string[];
}

const FROM_SOURCES: HostProgram = {
  file: join(__dirname, 'host-process.ts'),
  execArgv: ['--require', join(__dirname, '../../support/runtime/register-ts.cjs')],
};

const FEATURES: AuthModuleOptions['features'] = {
  ...PASSKEYS.features,
  lockout: true,
  twoFactor: true,
  registration: true,
  passwordReset: true,
  emailVerification: true,
  emailChange: true,
  knownDevices: true,
  emailCode: true,
  passkeyRegistration: true,
  verificationByAddress: true,
  conditionalCreate: true,
  identities: true,
  abilities: true,
};

/** Every feature and two guards, without rate limits that would hide other refusals. */
export const ALL_FEATURES: Partial<AuthModuleOptions> = {
  ...PASSKEYS,
  features: FEATURES,
  rateLimits: UNLIMITED,
  passwordReset: { frontendUrl: RESET_URL },
  emailVerification: { apiUrl: API_URL },
  emailChange: EMAIL_CHANGE,
  knownDevices: { frontendUrl: REPORT_URL },
  guards: { admin: { features: { identities: false } } } as AuthModuleOptions['guards'],
};

export interface HostSettings extends AttackedHostOptions {
  databaseUrl: string;
  redisUrl: string;
}

/** Starts a host. The answer contains the number of the host for further questions. */
export type StartQuestion = (settings: HostSettings) => Promise<{ host: number; url: string }>;

/** The process of all hosts of a test file: loading the code takes most of a start. */
class HostsProcess {
  private readonly child: ChildProcess;
  private readonly cleanUps: (() => Promise<void>)[] = [];
  private lastQuestionId = 0;
  output = '';

  constructor({ file, execArgv }: HostProgram) {
    const { PATH, TEST_NEST, TEST_TYPEORM } = process.env;
    this.child = fork(file, { execArgv, env: { PATH, TEST_NEST, TEST_TYPEORM, NO_COLOR: '1' }, silent: true });
    for (const stream of [this.child.stdout, this.child.stderr]) stream!.on('data', (chunk) => (this.output += chunk));
  }

  get exitCode(): number | null {
    return this.child.exitCode;
  }

  ask<T>(question: { host?: number; ask: string; args: unknown[] }): Promise<T> {
    const id = this.lastQuestionId++;
    return new Promise((resolve, reject) => {
      const settle = (done: () => void): void => {
        this.child.off('message', onAnswer).off('exit', onExit);
        done();
      };
      const onAnswer = (message: { id: number; answer?: unknown; error?: string }): void => {
        if (message.id === id)
          settle(() => (message.error ? reject(new Error(message.error)) : resolve(message.answer as T)));
      };
      const onExit = (code: number | null): void =>
        settle(() => reject(new Error(`the host exited with ${code}: ${this.output}`)));
      this.child.on('message', onAnswer).once('exit', onExit);
      this.child.send({ id, ...question });
    });
  }

  afterEnd(cleanUp: () => Promise<void>): void {
    this.cleanUps.push(cleanUp);
  }

  async end(): Promise<void> {
    const exited = new Promise((resolve) => this.child.once('exit', resolve));
    if (this.child.exitCode === null && this.child.kill('SIGKILL')) await exited;
    for (const cleanUp of this.cleanUps) await cleanUp();
  }
}

let hosts: HostsProcess | undefined;
afterAll(() => hosts?.end());

/** A host application in another process, and the output of the process during the attacks. */
export class AttackedHost {
  readonly paths: Record<string, string> = { api: '/auth', admin: '/admin/auth' };

  private constructor(
    private readonly process: HostsProcess,
    private readonly number: number,
    readonly wire: RawClient,
    private readonly database: Client,
  ) {}

  /** @param program what all hosts of the test file run. The first start decides. */
  static async start(
    { options = {}, bodyLimit, fastify = onFastify }: AttackedHostOptions = {},
    program = FROM_SOURCES,
  ): Promise<AttackedHost> {
    const process = (hosts ??= new HostsProcess(program));
    const { url: databaseUrl, drop } = await createDatabase();
    process.afterEnd(drop);
    const own = { ...ALL_FEATURES, storeTimeoutMs: 30_000, keyPrefix: `${randomUUID()}:`, ...options };
    const settings = {
      databaseUrl,
      redisUrl: sharedRedisUrl()!,
      options: own,
      bodyLimit,
      fastify,
    } satisfies HostSettings;
    const { host, url } = await process.ask<Awaited<ReturnType<StartQuestion>>>({ ask: 'start', args: [settings] });
    const database = new Client({ connectionString: databaseUrl });
    await database.connect();
    return new AttackedHost(process, host, new RawClient(url), database);
  }

  /** Ends the connections to the host. The host runs until the end of its process, after all tests of the file. */
  async stop(): Promise<void> {
    this.wire.close();
    await this.database.end();
  }

  ask<Q extends keyof HostQuestions>(ask: Q, ...args: Parameters<HostQuestions[Q]>): ReturnType<HostQuestions[Q]> {
    return this.process.ask({ host: this.number, ask, args }) as ReturnType<HostQuestions[Q]>;
  }

  async visitor(guard = 'api', abilities?: string[]): Promise<Visitor> {
    return (await this.ask('visitors', 1, guard, abilities))[0]!;
  }

  /** The mail to an address with this number, counted from 1. Waits until it is sent. */
  async mailTo(address: string, number: number): Promise<Mail> {
    let mail: Mail | undefined;
    await eventually(async () => {
      mail = (await this.ask('mails')).filter(({ to }) => to === address)[number - 1];
      return mail !== undefined;
    });
    return mail!;
  }

  async sql<R extends object = Record<string, unknown>>(statement: string, values: unknown[] = []): Promise<R[]> {
    return (await this.database.query<R>(statement, values)).rows;
  }

  /** Deletes every failure, so that no lock refuses the next attack. */
  async clearLockouts(): Promise<void> {
    await this.sql('DELETE FROM svc_lockouts');
  }

  post(path: string, body: object, headers: RawRequest['headers'] = {}): Promise<Answer> {
    return this.wire.send({ method: 'POST', path, body, headers });
  }

  /** Sends all attacks concurrently. @returns the problems of the responses, by attack */
  async withstand(attacks: readonly Attack[]): Promise<string[]> {
    const faults = await mapConcurrently(attacks, async ({ name, send, ...expected }) => {
      const answer = await this.wire.send(send);
      return problemsOf(answer, expected).map((fault) => `${name}: ${fault}`);
    });
    return faults.flat();
  }

  /** The problems of the process after the attacks: it exited, logged an error or a secret, or admits no user. */
  async aftermath(secrets: readonly string[] = []): Promise<string[]> {
    const { exitCode, output } = this.process;
    if (exitCode !== null) return [`the process exited with ${exitCode}: ${output}`];
    await this.clearLockouts();
    const visitor = await this.visitor();
    const { status, text } = await this.post('/auth/login', { email: visitor.email, password: PASSWORD });
    const faults = status === 200 ? [] : [`no user can sign in: ${status} ${text}`];
    const inherited = (await this.ask('inherited')).map((name) => `every object has ${name}`);
    return [...faults, ...inherited, ...problemsOfLog(this.process.output, secrets)];
  }
}
