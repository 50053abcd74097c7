/** What the library sends to PostgreSQL: the text by which a statement is recognized, and the keys by which it finds its rows. */
interface LibraryStatement {
  /** A pattern of its text, in which each space stands for white space. */
  readonly text: RegExp;
  /** Each table with its keys. `in every shard`: without a key. */
  readonly rows: string;
}

/** The statements of the library by their names. */
export const LIBRARY_STATEMENTS: Readonly<Record<string, LibraryStatement>> = {
  findSession: { text: /NULL::boolean AS "hasUser"/, rows: 'svc_sessions by id' },
  findSessionAndUser: { text: /CASE WHEN .* END AS "hasUser"/, rows: 'members by id, svc_sessions by id' },
  rotateShared: { text: /FOR UPDATE SKIP LOCKED\) f\) UPDATE "svc_sessions"/, rows: 'svc_sessions by id' },
  rotateOne: { text: /FOR UPDATE \) f\) UPDATE "svc_sessions"/, rows: 'svc_sessions by id' },
  insertSession: {
    text: /^WITH moment AS MATERIALIZED .* INSERT INTO "svc_sessions" .* AS kept/,
    rows: 'svc_sessions by id',
  },
  countSessions: { text: /^SELECT count\(\*\) > \$3 AS over/, rows: 'svc_sessions by guard, user_id' },
  capSessions: { text: /surplus AS MATERIALIZED/, rows: 'svc_sessions by guard, user_id and by id' },
  endSession: {
    text: /^UPDATE "svc_sessions" s SET revoked_at = clock_timestamp\(\) .* WHERE s.id = \$1/,
    rows: 'svc_sessions by id',
  },
  noteForeignEnd: { text: /^INSERT INTO "svc_sessions" AS s/, rows: 'svc_sessions by id' },
  endSessionsOfUser: {
    text: /page AS MATERIALIZED \(\(SELECT .* ORDER BY created_at DESC/,
    rows: 'svc_sessions by guard, user_id and by id',
  },
  endSessionsOfGuard: {
    text: /page AS MATERIALIZED .* ORDER BY user_id, created_at/,
    rows: 'svc_sessions by id and in every shard',
  },
  eraseSessions: {
    text: /page AS MATERIALIZED .* user_id = '', salt = ''/,
    rows: 'svc_sessions by guard, user_id and by id',
  },
  eraseRemainingSessions: {
    text: /AS now\), locked AS .* user_id = '', salt = ''/,
    rows: 'svc_sessions by guard, user_id and by id',
  },
  isOwnSession: {
    text: /^SELECT 1 FROM "svc_sessions" WHERE id = \$1 AND guard = \$2 AND user_id = \$3$/,
    rows: 'svc_sessions by id',
  },
  hasEnded: {
    text: /^SELECT s\.revoked_at IS NOT NULL OR .* AS ended FROM "svc_sessions" s WHERE s\.id = \$1 AND s\.guard = \$2$/,
    rows: 'svc_sessions by id',
  },
  hasEndedLocked: {
    text: /^SELECT s\.revoked_at IS NOT NULL OR .* AS ended .* FOR SHARE$/,
    rows: 'svc_sessions by id',
  },
  isPinned: { text: /^SELECT 1 FROM "svc_sessions" .* scope IS NOT NULL/, rows: 'svc_sessions by id' },
  listSessions: { text: /ORDER BY id::text = /, rows: 'svc_sessions by guard, user_id' },
  lastSignIn: { text: /^SELECT max\(at\) AS at FROM/, rows: 'svc_sessions by guard, user_id' },
  exportSessions: { text: /recent\[cardinality\(recent\)\]/, rows: 'svc_sessions by guard, user_id' },
  readEnded: { text: /pg_is_in_recovery\(\) THEN false END AS ended/, rows: 'svc_sessions by id' },
  endsSince: { text: /revoked_at::text AS "revokedAt"/, rows: 'svc_sessions in every shard' },
  writeBackEnds: { text: /^UPDATE "svc_sessions" SET revoked_at = statement_timestamp/, rows: 'svc_sessions by id' },
  pruneSessions: { text: /^DELETE FROM "svc_sessions" WHERE id = ANY/, rows: 'svc_sessions by id and in every shard' },
  readCaller: { text: /AS svc_ended/, rows: 'members by id, svc_sessions by id' },
  readUser: { text: /AS svc_key FROM "members" WHERE "id" = ANY\(\$1\)/, rows: 'members by id' },
  readCredentials: {
    text: /^SELECT .*"password_hash" FROM "members" WHERE/,
    rows: 'members by email and by id',
  },
  readSecondFactor: { text: /^SELECT "two_factor_secret"::text AS secret/, rows: 'members by id' },
  existingUsers: { text: /^SELECT "id"::text AS id FROM "members"/, rows: 'members by id' },
  isTaken: { text: /row_exists.* FROM "members" "u" WHERE/, rows: 'members by email and in every shard' },
  createUser: { text: /^INSERT INTO "members"/, rows: 'members by id' },
  changeUser: { text: /^UPDATE "members" SET/, rows: 'members by id' },
  deleteUser: { text: /^DELETE FROM "members"/, rows: 'members by id' },
  listIdentities: {
    text: /FROM "svc_identities" WHERE guard = ANY\(\$1\) AND user_id = \$2 ORDER/,
    rows: 'svc_identities by guard, user_id',
  },
  eraseIdentities: {
    text: /^DELETE FROM "svc_identities" WHERE guard = \$1 AND user_id/,
    rows: 'svc_identities by guard, user_id',
  },
  pageIdentities: {
    text: /^SELECT id, user_id AS "userId", .* FROM "svc_identities" r WHERE/,
    rows: 'svc_identities in every shard',
  },
  pruneIdentities: { text: /^DELETE FROM "svc_identities" WHERE id IN/, rows: 'svc_identities by id' },
  findAccessKey: { text: /AS svc_mac/, rows: 'members in every shard, svc_access_keys by id' },
  addAccessKey: {
    text: /^INSERT INTO "svc_access_keys"/,
    rows: 'svc_access_keys by guard, user_id and by id',
  },
  listAccessKeys: {
    text: /FROM "svc_access_keys" k WHERE guard = \$1 AND user_id = \$2/,
    rows: 'svc_access_keys by guard, user_id',
  },
  listAccessKeysOfService: {
    text: /FROM "svc_access_keys" k WHERE guard = \$1 AND service = \$2/,
    rows: 'svc_access_keys by guard, service',
  },
  revokeAccessKey: {
    text: /^UPDATE "svc_access_keys" SET revoked_at = .* WHERE id = \$1/,
    rows: 'svc_access_keys by id',
  },
  revokeAccessKeysOfUser: {
    text: /^WITH page AS MATERIALIZED \(SELECT id FROM "svc_access_keys" WHERE guard = \$1 AND user_id/,
    rows: 'svc_access_keys by guard, user_id and by id',
  },
  revokeAccessKeysOfGuard: {
    text: /^WITH page AS MATERIALIZED \(SELECT id FROM "svc_access_keys" WHERE guard = \$1 AND revoked_at/,
    rows: 'svc_access_keys by id and in every shard',
  },
  recordAccessKeys: { text: /^WITH used AS .* "svc_access_keys"/, rows: 'svc_access_keys by id' },
  eraseAccessKeys: {
    text: /^DELETE FROM "svc_access_keys" WHERE guard = \$1 AND user_id/,
    rows: 'svc_access_keys by guard, user_id',
  },
  pageAccessKeys: {
    text: /^SELECT id, user_id AS "userId", .* FROM "svc_access_keys" r WHERE/,
    rows: 'svc_access_keys in every shard',
  },
  pruneAccessKeys: { text: /^DELETE FROM "svc_access_keys" WHERE id IN/, rows: 'svc_access_keys by id' },
  readSuspension: {
    text: /^SELECT reason, suspended_at, ends_at FROM "svc_suspensions"/,
    rows: 'svc_suspensions by guard, user_id',
  },
  suspend: { text: /^INSERT INTO "svc_suspensions"/, rows: 'svc_suspensions by guard, user_id' },
  restore: {
    text: /^DELETE FROM "svc_suspensions" WHERE guard = ANY\(\$1\) AND user_id = \$3/,
    rows: 'svc_suspensions by guard, user_id',
  },
  eraseSuspension: {
    text: /^DELETE FROM "svc_suspensions" WHERE guard = \$1 AND user_id = \$2$/,
    rows: 'svc_suspensions by guard, user_id',
  },
  pruneSuspensions: {
    text: /^DELETE FROM "svc_suspensions" WHERE guard = \$1 AND NOT/,
    rows: 'svc_suspensions in every shard',
  },
  pageHistory: {
    text: /FROM "svc_audit" WHERE guard = \$1 AND user_id = \$2 AND id </,
    rows: 'svc_audit by guard, user_id, svc_audit_keys by guard, user_id',
  },
  eraseHistoryKey: {
    text: /^DELETE FROM "svc_audit_keys" WHERE guard = \$1 AND user_id/,
    rows: 'svc_audit_keys by guard, user_id',
  },
  pruneHistory: { text: /^DELETE FROM "svc_audit" WHERE id = ANY/, rows: 'svc_audit by id and in every shard' },
  addSecurityEvents: { text: /^INSERT INTO "svc_security_events"/, rows: 'svc_security_events by guard, user_id' },
  claimSecurityEvents: {
    text: /^WITH heads AS MATERIALIZED/,
    rows: 'svc_security_events by position and in every shard',
  },
  removeSecurityEvent: {
    text: /^DELETE FROM "svc_security_events" WHERE position = \$1/,
    rows: 'svc_security_events by position',
  },
  releaseSecurityEvent: {
    text: /^UPDATE "svc_security_events" SET failure = /,
    rows: 'svc_security_events by position',
  },
  giveUpSecurityEvents: {
    text: /^WITH oldest AS MATERIALIZED/,
    rows: 'svc_security_events by position and in every shard',
  },
  findDeadSecurityEvent: {
    text: /^SELECT 1 FROM "svc_security_events"/,
    rows: 'svc_security_events in every shard',
  },
  reviveSecurityEvents: {
    text: /^UPDATE "svc_security_events" SET dead_at = NULL/,
    rows: 'svc_security_events in every shard',
  },
  pruneSecurityEvents: {
    text: /^WITH page AS MATERIALIZED \( SELECT position FROM "svc_security_events"/,
    rows: 'svc_security_events by position and in every shard',
  },
  readLock: { text: /^SELECT extract\(epoch FROM locked_at\)/, rows: 'svc_lockouts by guard, purpose, subject' },
  countFailure: { text: /^INSERT INTO "svc_lockouts"/, rows: 'svc_lockouts by guard, purpose, subject' },
  removeLocks: { text: /^DELETE FROM "svc_lockouts" .* unnest/, rows: 'svc_lockouts by guard, purpose, subject' },
  eraseLocks: {
    text: /^DELETE FROM "svc_lockouts" WHERE guard = \$1 AND subject = ANY/,
    rows: 'svc_lockouts by guard, subject',
  },
  pruneLockouts: { text: /^WITH moment AS .* \(DELETE FROM "svc_lockouts"/, rows: 'svc_lockouts in every shard' },
  issueReset: {
    text: /^INSERT INTO "svc_password_resets"/,
    rows: 'members by id, svc_password_resets by guard, user_id',
  },
  redeemReset: {
    text: /^UPDATE "svc_password_resets" SET token_hash = 'used:'/,
    rows: 'svc_password_resets by guard, user_id',
  },
  removeResets: {
    text: /^DELETE FROM "svc_password_resets" WHERE guard = (\$1|ANY\(\$1\)) AND user_id = \$2( AND \(password_fingerprint IS .*)?$/,
    rows: 'svc_password_resets by guard, user_id',
  },
  pruneResets: {
    text: /^WITH .* \(DELETE FROM "svc_password_resets"/,
    rows: 'svc_password_resets by guard, user_id and in every shard',
  },
  requestEmailChange: { text: /^INSERT INTO "svc_email_changes"/, rows: 'svc_email_changes by id' },
  readDeadline: { text: /^SELECT expires_at::text AS deadline FROM "svc_sessions"/, rows: 'svc_sessions by id' },
  isRestored: {
    text: /^SELECT 1 FROM "svc_email_changes" WHERE guard = \$1 AND id = \$2/,
    rows: 'svc_email_changes by id',
  },
  findEmailChange: {
    text: /^SELECT id, user_id AS "userId", session_id .* FROM "svc_email_changes"/,
    rows: 'svc_email_changes by guard, confirm_hash and by guard, undo_hash',
  },
  confirmEmailChange: {
    text: /^UPDATE "svc_email_changes" SET state = \$4, undo_hash/,
    rows: 'svc_email_changes by id',
  },
  undoEmailChange: { text: /^UPDATE "svc_email_changes" SET state = \$4, undone_at/, rows: 'svc_email_changes by id' },
  supersedeEmailChanges: {
    text: /^UPDATE "svc_email_changes" SET state = \$4 WHERE guard = ANY\(\$1\) AND user_id = \$2/,
    rows: 'svc_email_changes by guard, user_id',
  },
  advanceEmailChange: {
    text: /^UPDATE "svc_email_changes" SET state = \$4 WHERE guard = \$1 AND id = \$2/,
    rows: 'svc_email_changes by id',
  },
  findHeldEmail: {
    text: /^SELECT user_id AS "userId" FROM "svc_email_changes"/,
    rows: 'svc_email_changes by guard, held_email',
  },
  exportEmailChanges: { text: /^SELECT old_email AS "from"/, rows: 'svc_email_changes by guard, user_id' },
  removeEmailChanges: {
    text: /^DELETE FROM "svc_email_changes" WHERE guard = \$1 AND user_id = \$2$/,
    rows: 'svc_email_changes by guard, user_id',
  },
  pruneEmailChanges: {
    text: /^WITH .* \(DELETE FROM "svc_email_changes"/,
    rows: 'svc_email_changes by id and in every shard',
  },
  addDelivery: { text: /^INSERT INTO "svc_email_deliveries"/, rows: 'svc_email_deliveries by id' },
  hasDelivery: { text: /^SELECT 1 FROM "svc_email_deliveries"/, rows: 'svc_email_deliveries by guard, user_id' },
  removeDeliveries: {
    text: /^DELETE FROM "svc_email_deliveries" WHERE guard = /,
    rows: 'svc_email_deliveries by guard, user_id',
  },
  pageDeliveries: {
    text: /^SELECT id, user_id AS "userId", .* FROM "svc_email_deliveries" r WHERE/,
    rows: 'svc_email_deliveries in every shard',
  },
  removeDeliveriesById: {
    text: /^DELETE FROM "svc_email_deliveries" WHERE id (= ANY|IN)/,
    rows: 'svc_email_deliveries by id',
  },
  addPasskey: {
    text: /^INSERT INTO "svc_passkeys"/,
    rows: 'members by id, svc_passkeys by credential_id and by guard, user_id',
  },
  findPasskey: { text: /^SELECT user_id AS "userId", user_handle/, rows: 'svc_passkeys by credential_id' },
  lockPasskey: { text: /^SELECT sign_count::float8 .* FOR UPDATE$/, rows: 'svc_passkeys by credential_id' },
  lockPasskeysOfUser: {
    text: /^SELECT credential_id AS id FROM .* FOR UPDATE$/,
    rows: 'svc_passkeys by guard, user_id',
  },
  touchPasskey: { text: /^UPDATE "svc_passkeys" SET sign_count/, rows: 'svc_passkeys by credential_id' },
  listPasskeys: { text: /^SELECT credential_id AS id, name/, rows: 'svc_passkeys by guard, user_id' },
  hasPasskeys: {
    text: /^SELECT 1 FROM "svc_passkeys" WHERE guard = \$1 AND user_id = \$2 LIMIT 1$/,
    rows: 'svc_passkeys by guard, user_id',
  },
  renamePasskey: { text: /^UPDATE "svc_passkeys" SET name/, rows: 'svc_passkeys by credential_id' },
  passkeyExists: { text: /^SELECT 1 FROM "svc_passkeys" .* FOR KEY SHARE$/, rows: 'svc_passkeys by credential_id' },
  removePasskey: {
    text: /^DELETE FROM "svc_passkeys" WHERE credential_id = \$1/,
    rows: 'svc_passkeys by credential_id',
  },
  removePasskeysOfUser: {
    text: /^DELETE FROM "svc_passkeys" WHERE guard = \$1 AND user_id = \$2/,
    rows: 'svc_passkeys by guard, user_id',
  },
  pagePasskeys: { text: /^SELECT credential_id AS id, user_id AS "userId"/, rows: 'svc_passkeys in every shard' },
  removeOrphans: {
    text: /^DELETE FROM "svc_passkeys" WHERE credential_id IN \(/,
    rows: 'svc_passkeys by credential_id',
  },
  addDeviceKey: {
    text: /^WITH live AS .* INSERT INTO "svc_device_keys"/,
    rows: 'svc_device_keys by id, svc_sessions by id',
  },
  findDeviceKey: { text: /^SELECT k.user_id AS "userId", k.jwk/, rows: 'svc_device_keys by id, svc_sessions by id' },
  eraseDeviceKeys: {
    text: /^DELETE FROM "svc_device_keys" WHERE guard = \$1 AND user_id = \$2$/,
    rows: 'svc_device_keys by guard, user_id',
  },
  pageDeviceKeys: {
    text: /^SELECT id, user_id AS "userId", .* FROM "svc_device_keys" r WHERE/,
    rows: 'svc_device_keys in every shard, svc_sessions by id',
  },
  removeDeviceKeys: { text: /^DELETE FROM "svc_device_keys" WHERE id IN \(/, rows: 'svc_device_keys by id' },
  recordDevice: {
    text: /^WITH live AS .* INSERT INTO "svc_known_devices"/,
    rows: 'svc_known_devices by guard, user_id and by id, svc_sessions by id',
  },
  removeSurplusDevices: {
    text: /^DELETE FROM "svc_known_devices" WHERE id = ANY\(ARRAY\(/,
    rows: 'svc_known_devices by guard, user_id and by id',
  },
  linkDevice: { text: /^UPDATE "svc_known_devices" SET link_hash/, rows: 'svc_known_devices by id' },
  settleMail: { text: /^UPDATE "svc_known_devices" SET mail_due = false/, rows: 'svc_known_devices by id' },
  isMailDue: {
    text: /^SELECT 1 FROM "svc_known_devices" WHERE id = \$1 AND guard = \$2 AND mail_due$/,
    rows: 'svc_known_devices by id',
  },
  findReport: {
    text: /^SELECT id, user_id AS "userId", session_id AS "familyId"/,
    rows: 'svc_known_devices by link_hash',
  },
  closeReport: { text: /^UPDATE "svc_known_devices" SET reported_at/, rows: 'svc_known_devices by id' },
  listKnownDevices: { text: /^SELECT id, first_seen_at AS "firstSeenAt"/, rows: 'svc_known_devices by guard, user_id' },
  forgetDevice: {
    text: /^UPDATE "svc_known_devices" SET device_hash = NULL, user_agent = NULL WHERE id/,
    rows: 'svc_known_devices by id',
  },
  forgetDevices: {
    text: /^UPDATE "svc_known_devices" SET device_hash = NULL, user_agent = NULL WHERE guard/,
    rows: 'svc_known_devices by guard, user_id',
  },
  eraseDevices: {
    text: /^DELETE FROM "svc_known_devices" WHERE guard = \$1 AND user_id = \$2$/,
    rows: 'svc_known_devices by guard, user_id',
  },
  pageDevices: {
    text: /^SELECT id, user_id AS "userId", .* FROM "svc_known_devices" r WHERE/,
    rows: 'svc_known_devices by guard, user_id and in every shard',
  },
  removeOldDevices: { text: /^DELETE FROM "svc_known_devices" WHERE id IN \(/, rows: 'svc_known_devices by id' },
  addDevice: { text: /^INSERT INTO "svc_trusted_devices"/, rows: 'svc_trusted_devices by guard, user_id' },
  removeFormerDevices: {
    text: /^DELETE FROM "svc_trusted_devices" .* \(binding <> \$3/,
    rows: 'svc_trusted_devices by guard, user_id',
  },
  findDevice: { text: /^SELECT 1 FROM "svc_trusted_devices"/, rows: 'svc_trusted_devices by guard, user_id' },
  listDevices: {
    text: /^SELECT id, extract\(epoch FROM created_at\)::float8 AS "createdAt", user_agent AS "userAgent",/,
    rows: 'svc_trusted_devices by guard, user_id',
  },
  removeDevice: {
    text: /^DELETE FROM "svc_trusted_devices" WHERE guard = \$1 AND user_id = \$2 AND id = \$3/,
    rows: 'svc_trusted_devices by guard, user_id',
  },
  removeDevices: {
    text: /^DELETE FROM "svc_trusted_devices" WHERE guard = (\$1|ANY\(\$1\)) AND user_id = \$2$/,
    rows: 'svc_trusted_devices by guard, user_id',
  },
  removeDevicesOfGuard: {
    text: /^WITH page AS MATERIALIZED \( SELECT user_id, id, expires_at FROM "svc_trusted_devices" WHERE guard = \$1 AND \(user_id/,
    rows: 'svc_trusted_devices by guard, user_id and in every shard',
  },
  pruneDevices: {
    text: /^WITH page AS MATERIALIZED \( SELECT user_id, id, expires_at FROM "svc_trusted_devices" WHERE guard = \$1 AND expires_at/,
    rows: 'svc_trusted_devices by guard, user_id and in every shard',
  },
  probeInsert: {
    text: /^INSERT INTO "svc_sessions" \(id, guard, user_id, salt, auth_time, expires_at, revoked_at, .* AS now\) moment$/,
    rows: 'svc_sessions by id',
  },
  probeDelete: { text: /^DELETE FROM "svc_sessions" WHERE id = \$1$/, rows: 'svc_sessions by id' },
  lockUntilCommit: { text: /^SELECT pg_advisory_xact_lock/, rows: 'no table' },
  tryLock: { text: /^SELECT 1 WHERE pg_try_advisory_xact_lock/, rows: 'no table' },
  readTimeline: { text: /FROM pg_control_system\(\)$/, rows: 'no table' },
  isFound: { text: /^SELECT pg_is_in_recovery\(\) OR EXISTS/, rows: 'svc_sessions by id' },
  imitateCreation: { text: /pg_logical_emit_message/, rows: 'no table' },
  probe: { text: /^SELECT 1$/, rows: 'no table' },
  transactionTime: { text: /^SELECT transaction_timestamp\(\)::text AS begin$/, rows: 'no table' },
  existingTables: { text: /LEFT JOIN pg_attribute/, rows: 'no table' },
  missingColumns: { text: /to_regclass\(relation\) IS NULL AS "isTable"/, rows: 'no table' },
  canLockUsers: { text: /^SELECT 1 FROM pg_class/, rows: 'no table' },
};
