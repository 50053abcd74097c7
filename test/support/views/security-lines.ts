import { Controller, Get } from '@nestjs/common';
import {
  Abilities,
  AcceptsTicket,
  type AuthModuleOptions,
  RequireFactor,
  RequireRecentLogin,
  RequireVerifiedEmail,
  type Reason,
  type SecurityLine,
  Throttled,
} from '@svc/auth';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TestApp } from '../hosts/app';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../flows/step-up';
import { HostController } from '../hosts/host.module';
import { type Mailbox, member, membersForFile } from '../hosts/members';

@Controller()
class GatedController {
  @Get('able')
  @Abilities('orders.read')
  able() {
    return {};
  }

  @Get('ticketed')
  @AcceptsTicket()
  ticketed() {
    return {};
  }

  @Get('with-factor')
  @RequireFactor('any')
  factor() {
    return {};
  }

  @Get('verified')
  @RequireVerifiedEmail()
  verified() {
    return {};
  }

  @Get('recent')
  @RequireRecentLogin(60)
  recent() {
    return {};
  }

  @Get('seldom')
  @Throttled('seldom')
  seldom() {
    return {};
  }
}

/** Every reason. The compiler rejects an incomplete list. */
const REASONS: Record<Reason, true> = {
  account_locked: true,
  actor_refused: true,
  already_enrolled: true,
  bad_challenge: true,
  bad_continuation: true,
  bad_enrolment: true,
  bad_link: true,
  bad_logout_token: true,
  bad_scanner_signature: true,
  confirmation_required: true,
  confirmation_session_mismatch: true,
  deletion_busy: true,
  email_change_failed: true,
  email_unverified: true,
  expired_key: true,
  expired_token: true,
  factor_required: true,
  former_email_taken: true,
  hasher_busy: true,
  identifier_taken: true,
  identity_not_linked: true,
  identity_refused: true,
  identity_taken: true,
  idle_session: true,
  insufficient_scope: true,
  foreign_key: true,
  invalid_key: true,
  invalid_proof: true,
  invalid_ticket: true,
  invalid_token: true,
  key_network: true,
  key_owner: true,
  last_identity: true,
  last_passkey: true,
  missing_attempt: true,
  missing_proof: true,
  missing_token: true,
  new_email_taken: true,
  no_session: true,
  no_such_identity: true,
  no_such_passkey: true,
  no_such_provider: true,
  no_such_session: true,
  no_such_user: true,
  not_applicable: true,
  not_enrolled: true,
  operator_protected: true,
  other: true,
  outdated_link: true,
  passkey_not_registered: true,
  passkey_not_verified: true,
  passkey_not_yours: true,
  passkey_unknown: true,
  provider_unavailable: true,
  recent_login_required: true,
  report_failed: true,
  reset_failed: true,
  reused_token: true,
  revoked_key: true,
  revoked_token: true,
  second_factor_required: true,
  sign_in_refused: true,
  store_unavailable: true,
  too_many_failures: true,
  too_many_keys: true,
  too_many_requests: true,
  unexpected: true,
  unknown_key: true,
  unknown_attempt: true,
  unknown_token: true,
  unproved_key: true,
  unknown_user: true,
  unverified_login: true,
  used_code: true,
  validation_failed: true,
  wrong_code: true,
  wrong_credentials: true,
  wrong_email_code: true,
  wrong_key: true,
  wrong_password: true,
};

export const ALL_REASONS = Object.keys(REASONS).toSorted();

/** Records the lines of the security log. */
export class SecurityLines {
  readonly lines: SecurityLine[] = [];

  readonly options: Partial<AuthModuleOptions> = {
    securityLog: { sink: (line) => void this.lines.push(line), maxPerMinute: 1e6 },
  };

  /** The lines that `work` writes. */
  async during(work: () => PromiseLike<unknown>): Promise<SecurityLine[]> {
    // A line is written one tick after the event that it reports.
    await nextTurn();
    const before = this.lines.length;
    await work();
    await nextTurn();
    return this.lines.slice(before);
  }

  /** Requires that a request has this status and writes one line. @returns the line */
  async lineOf(work: () => PromiseLike<{ status: number }>, status: number): Promise<SecurityLine> {
    const lines = await this.during(async () => expect((await work()).status).toBe(status));
    expect(lines).toHaveLength(1);
    return lines[0]!;
  }
}

/** Every reason that was written. Requires that no line contains a secret or identifies a user other than by id. */
export function reasonsIn(lines: readonly SecurityLine[]): string[] {
  for (const line of lines) {
    expect(JSON.stringify(line)).not.toMatch(
      /@|eyJ|battery|long-enough|[0-9a-f]{64}|[\w-]{71}|\w{10}-\w{10}"|never said/,
    );
  }
  return [...new Set(lines.flatMap(({ reason }) => reason ?? []))].toSorted();
}

/** A caller who has just confirmed the password. */
export interface Own {
  token: string;
  proof: string;
}

/** A logging host with every feature for a whole file. Each test has a verified member. */
export class LoggingApp {
  readonly email = 'ada@example.com';
  id = '';
  /** The behaviour of the host at every token. */
  hook: () => object = () => ({});
  /** Whether the host refuses sign-ins. */
  mayNotSignIn = false;
  /** Whether a second factor is required of every user. */
  mustHaveFactor = false;

  private constructor(
    readonly t: TestApp,
    readonly mailbox: Mailbox,
  ) {}

  static forFile(log: SecurityLines): LoggingApp {
    const unlimited = { maxAttempts: 1e9 };
    const { t, mailbox } = membersForFile(
      {
        ...log.options,
        features: {
          twoFactor: true,
          lockout: true,
          abilities: true,
          emailChange: true,
          knownDevices: true,
          emailCode: true,
        },
        knownDevices: { mail: false },
        emailVerification: { blockUnverifiedLogin: true },
        twoFactor: { required: () => app.mustHaveFactor },
        hooks: { tokenClaims: () => app.hook(), canSignIn: () => !app.mayNotSignIn },
        rateLimits: {
          login: { maxAttempts: 3, ipMaxAttempts: 1e9, accountMaxAttempts: 1e9 },
          confirm: unlimited,
          registration: unlimited,
          refresh: unlimited,
          passwordReset: unlimited,
          emailVerification: unlimited,
          emailChange: unlimited,
          mailedLinks: unlimited,
          emailCode: unlimited,
          twoFactor: unlimited,
          limiters: { seldom: () => ({ key: 'all', maxAttempts: 1, decaySeconds: 60 }) },
        },
      },
      { controllers: [HostController, GatedController] },
    );
    const app = new LoggingApp(t, mailbox);
    beforeEach(async () => {
      app.hook = () => ({});
      app.id = await member(t, app.email, { emailVerifiedAt: new Date() });
    });
    return app;
  }

  session() {
    return this.t.session(this.email);
  }

  async confirmed(): Promise<Own> {
    const { access_token: token } = await this.session();
    return { token, proof: await confirmationTokenOf(this.t, token) };
  }

  call(method: 'post' | 'delete', path: string, { token, proof }: Own) {
    return this.t.call(method, path, token).set(CONFIRMATION_HEADER, proof);
  }
}
