import type { MigrationInterface } from 'typeorm';
import { CreateSvcEmailChanges1764200000000 } from './1764200000000-create-email-changes';
import { CreateSvcEmailDeliveries1764500000000 } from './1764500000000-create-email-deliveries';
import { CreateSvcKnownDevices1764300000000 } from './1764300000000-create-known-devices';
import { CreateSvcLockouts1763800000000 } from './1763800000000-create-lockouts';
import { CreateSvcPasskeys1764000000000 } from './1764000000000-create-passkeys';
import { CreateSvcPasswordResets1764100000000 } from './1764100000000-create-password-resets';
import { CreateSvcTrustedDevices1764400000000 } from './1764400000000-create-trusted-devices';
import { CreateSvcSessions1763700000000 } from './1763700000000-create-sessions';

/** A name instead of the classes: a package that exports values with them needs no path inside of this library. */
type Migration = new () => MigrationInterface & { name: string };

/**
 * Every migration of the library's tables, for the `migrations` of the host's data source.
 *
 * @publicApi
 */
export const authMigrations: Migration[] = [
  CreateSvcSessions1763700000000,
  CreateSvcLockouts1763800000000,
  CreateSvcPasskeys1764000000000,
  CreateSvcPasswordResets1764100000000,
  CreateSvcEmailChanges1764200000000,
  CreateSvcKnownDevices1764300000000,
  CreateSvcTrustedDevices1764400000000,
  CreateSvcEmailDeliveries1764500000000,
];
