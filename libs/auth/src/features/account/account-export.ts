import { Injectable } from '@nestjs/common';
import { Clock } from '../../foundation/platform/clock';
import { Database } from '../../foundation/platform/database';
import { isMissing } from '../../foundation/platform/pg-errors';
import { valueIf } from '../../foundation/platform/deadline';
import { EmailChangeRows, type ExportedEmailChange } from '../email-change/email-change.store';
import { type ExportedDevice, KnownDeviceStore } from '../known-devices/known-device.store';
import { type ListedDevice, TrustedDeviceStore } from '../sessions/trusted-device.store';
import { PasskeyStore } from '../passkeys/passkey.store';
import { Realm } from '../../foundation/realm/realm';
import { Session } from '../../identity/denylist/session.entity';
import { endOf } from '../sessions/session.sql';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** The data of an account in the library, for its owner. Times are ISO 8601 in UTC. */
export interface ExportedAccount {
  generated_at: string;
  account: { id: string | number; identifier: string | null };
  sessions: {
    session: string;
    created_at: string;
    last_rotated_at: string | null;
    revoked_at: string | null;
    /** When it ends, or would have ended, without another use: at its deadline, or after its idle time. */
    expires_at: string;
  }[];
  /** `last_used_at` in unix seconds. */
  passkeys: { credential_id: string; name: string | null; last_used_at: number | null }[];
  two_factor: { enabled: boolean; confirmed_at: string | null };
  /** Requested and made changes of the email, until their links expire. */
  email_changes: ExportedEmailChange[];
  /** The devices on which the user has signed in. */
  known_devices: ExportedDevice[];
  /** Also devices that are not trusted any more and not deleted yet. */
  trusted_devices: readonly ListedDevice[];
}

/** Number of sessions that one statement reads. */
const PAGE = 1000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

interface SessionRow {
  id: string;
  /** `created_at` as text, in full precision. */
  startedAt: string;
  createdAt: number;
  lastRotatedAt: number | null;
  revokedAt: number | null;
  expiresAt: number;
}

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
const isoOrNull = (seconds: number | null): string | null => (seconds === null ? null : iso(seconds));
const seconds = (column: string): string => `extract(epoch FROM ${column})::float8`;

/** Exports the data of an account (`GET /account/export`). It reads no token, hash, secret or key. */
@Injectable()
export class AccountExport {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly passkeyRows: PasskeyStore,
    private readonly emailChanges: EmailChangeRows,
    private readonly knownDevices: KnownDeviceStore,
    private readonly trustedDevices: TrustedDeviceStore,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  async export({ user, userId }: Caller): Promise<ExportedAccount> {
    return {
      generated_at: new Date(this.clock.now()).toISOString(),
      account: { id: this.users.publicIdOf(user), identifier: this.users.identifierOf(user) },
      sessions: await this.sessions(userId),
      passkeys: await this.passkeys(userId),
      two_factor: await this.twoFactor(userId),
      email_changes: await this.emailChanges.list(userId),
      known_devices: (await this.knownDevices.list(userId)).map(({ current: _, ...device }) => device),
      trusted_devices: await this.trustedDevices.list(userId).catch(noneIfMissing),
    };
  }

  private async sessions(userId: string): Promise<ExportedAccount['sessions']> {
    const rows: SessionRow[] = [];
    for (;;) {
      const page: SessionRow[] = await this.page(userId, rows.at(-1));
      rows.push(...page);
      if (page.length < PAGE) break;
    }
    return rows.map(({ id, createdAt, lastRotatedAt, revokedAt, expiresAt }) => ({
      session: id,
      created_at: iso(createdAt),
      last_rotated_at: isoOrNull(lastRotatedAt),
      revoked_at: isoOrNull(revokedAt),
      expires_at: iso(expiresAt),
    }));
  }

  /** Reads live and ended sessions in the order of their start. Two sub-selects, because each kind has its own index. */
  private page(userId: string, after?: SessionRow): Promise<SessionRow[]> {
    const { guard, options } = this.realm;
    const ofKind = (condition: string): string => `
      (SELECT * FROM ${this.database.table(Session)}
        WHERE guard = $1 AND user_id = $2 AND ${condition} AND (created_at, id) > ($3::timestamptz, $4::uuid)
        ORDER BY created_at, id LIMIT ${PAGE})`;
    return this.database.query<SessionRow>(
      `SELECT id, created_at::text AS "startedAt", ${seconds('created_at')} AS "createdAt",
              ${seconds('recent[cardinality(recent)]')} AS "lastRotatedAt",
              ${seconds('revoked_at')} AS "revokedAt", ${seconds(endOf('$5'))} AS "expiresAt"
         FROM (${ofKind('revoked_at IS NULL')} UNION ALL ${ofKind('revoked_at IS NOT NULL')}) s
        ORDER BY created_at, id LIMIT ${PAGE}`,
      [guard, userId, after?.startedAt ?? '-infinity', after?.id ?? FIRST_ID, options.sessions.idleTimeout || null],
    );
  }

  private async passkeys(userId: string): Promise<ExportedAccount['passkeys']> {
    const stored = await this.passkeyRows.list(userId).catch(noneIfMissing);
    return stored.map(({ id, name, last_used_at }) => ({ credential_id: id, name, last_used_at }));
  }

  private async twoFactor(userId: string): Promise<ExportedAccount['two_factor']> {
    const factor = this.users.storesSecondFactors() ? await this.users.secondFactorOf(userId) : null;
    const confirmedAt = factor?.confirmedAt ?? null;
    return { enabled: confirmedAt !== null, confirmed_at: confirmedAt?.toISOString() ?? null };
  }
}

/** The migration has not run: the table is missing, or another table has its name. */
const noneIfMissing = valueIf(isMissing, []);
