import { Controller, Get } from '@nestjs/common';
import {
  Abilities,
  type AuthModuleOptions,
  RequireVerifiedEmail,
  type Reason,
  type SecurityLine,
  Throttled,
  UserProvider,
} from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { Realms } from '../../libs/auth/src/realm/realm';
import type { TestApp } from './app';
import { HEADER, proofOf } from './confirming';
import { HostController } from './host.module';
import { type Mailbox, member, startMembers } from './members';

@Controller()
class GatedController {
  @Get('able')
  @Abilities('orders.read')
  able() {
    return {};
  }

  @Get('verified')
  @RequireVerifiedEmail()
  verified() {
    return {};
  }

  @Get('seldom')
  @Throttled('seldom')
  seldom() {
    return {};
  }
}

/** Reasons by the file of `test/observability` that sees them. */
export const SEEN_BY: Record<'logins' | 'refusals', Reason[]> = {
  logins: [
    'account_locked',
    'expired_token',
    'hasher_busy',
    'missing_token',
    'other',
    'reused_token',
    'revoked_token',
    'too_many_failures',
    'unexpected',
    'unknown_token',
    'unknown_user',
    'unverified_login',
    'validation_failed',
    'wrong_credentials',
    'wrong_password',
  ],
  refusals: [
    'already_enrolled',
    'bad_challenge',
    'bad_link',
    'confirmation_required',
    'confirmation_session_mismatch',
    'email_unverified',
    'expired_token',
    'identifier_taken',
    'insufficient_scope',
    'invalid_token',
    'missing_token',
    'no_such_passkey',
    'no_such_session',
    'not_enrolled',
    'outdated_link',
    'passkey_not_registered',
    'passkey_not_verified',
    'passkey_not_yours',
    'reset_failed',
    'revoked_token',
    'store_unavailable',
    'too_many_requests',
    'unknown_user',
    'wrong_code',
    'wrong_password',
  ],
};

/** Keeps the lines of the security log. */
export class SecurityLines {
  readonly lines: SecurityLine[] = [];

  readonly options: Partial<AuthModuleOptions> = {
    securityLog: { sink: (line) => void this.lines.push(line), maxPerMinute: 1e6 },
  };

  /** Lines written by `work`. */
  async during(work: () => PromiseLike<unknown>): Promise<SecurityLine[]> {
    const before = this.lines.length;
    await work();
    return this.lines.slice(before);
  }

  /** The one line that a request with this answer writes. */
  async lineOf(work: () => PromiseLike<{ status: number }>, status: number): Promise<SecurityLine> {
    const lines = await this.during(async () => expect((await work()).status).toBe(status));
    expect(lines).toHaveLength(1);
    return lines[0]!;
  }
}

/** Every reason that was seen; none of the lines holds a secret, or names anybody but by id. */
export function reasonsIn(lines: readonly SecurityLine[]): string[] {
  for (const line of lines) {
    expect(JSON.stringify(line)).not.toMatch(/@|eyJ|battery|long-enough|[0-9a-f]{64}|\w{10}-\w{10}"|never said/);
  }
  return [...new Set(lines.flatMap(({ reason }) => reason ?? []))].toSorted();
}

/** A caller who has just confirmed the password. */
export interface Own {
  token: string;
  proof: string;
}

/** A host that logs, with every capability, and a verified member for each test. */
export class LoggingApp {
  email = '';
  id = '';
  /** What the host does at every token. */
  hook: () => object = () => ({});

  private constructor(
    readonly t: TestApp,
    readonly mailbox: Mailbox,
  ) {}

  static async start(log: SecurityLines): Promise<LoggingApp> {
    const box: { app?: LoggingApp } = {};
    const unlimited = { maxAttempts: 1e9 };
    const { t, mailbox } = await startMembers(
      {
        ...log.options,
        features: { twoFactor: true, lockout: true, abilities: true },
        emailVerification: { blockUnverifiedLogin: true },
        hooks: { tokenClaims: () => box.app!.hook() },
        rateLimits: {
          login: { maxAttempts: 3, ipMaxAttempts: 1e9, accountMaxAttempts: 1e9 },
          confirm: unlimited,
          registration: unlimited,
          refresh: unlimited,
          passwordReset: unlimited,
          emailVerification: unlimited,
          twoFactor: unlimited,
          limiters: { seldom: () => ({ key: 'all', maxAttempts: 1, decaySeconds: 60 }) },
        },
        keyPrefix: `${randomUUID()}:`,
      },
      { controllers: [HostController, GatedController] },
    );
    box.app = new LoggingApp(t, mailbox);
    return box.app;
  }

  /** A member of the next test's own. */
  async next(): Promise<void> {
    this.hook = () => ({});
    this.email = `${randomUUID()}@example.com`;
    this.id = await member(this.t, this.email, { emailVerifiedAt: new Date() });
  }

  get users(): UserProvider {
    return this.t.app.get(Realms).default.get(UserProvider);
  }

  session() {
    return this.t.session(this.email);
  }

  async confirmed(): Promise<Own> {
    const { access_token: token } = await this.session();
    return { token, proof: await proofOf(this.t, token) };
  }

  call(method: 'post' | 'delete', path: string, { token, proof }: Own) {
    return this.t.call(method, path, token).set(HEADER, proof);
  }
}
