/** Who a user is: the provider of users, passwords, callers, tokens with a purpose. */
export {
  type NewAccount,
  type ReplacementResult,
  type Replacing,
  type StoredSecondFactor,
  UserProvider,
} from '../foundation/ports/user-provider';
export { CLOCK_MARGIN, Denylist } from '../identity/denylist/denylist';
export { denylistVerdict } from '../identity/denylist/denylist.policy';
export { EndedSessions } from '../identity/denylist/ended-sessions';
export { HasherBusy } from '../identity/password/hash-queue';
export { PasswordCheck } from '../identity/password/password-check';
export { PasswordHasher } from '../identity/password/password-hasher';
export { PasswordRules } from '../identity/password/password-rules';
export { AccountStandings, SignInRefused } from '../identity/tokens/access-tokens';
export { type AccessClaims, isOver } from '../identity/tokens/access-token.policy';
export { Authenticator } from '../identity/tokens/authenticator';
export {
  type Caller,
  type Credential,
  type Credentialed,
  type HeldSession,
  type Holding,
  type TokenBinding,
  bearerOf,
  callerAt,
  callerOf,
  credentialGateOf,
  isRepeated,
  recordCaller,
  recordCredentialGate,
} from '../identity/tokens/caller';
export { Keyring, signJws } from '../identity/tokens/keyring';
export type { PurposeClaims } from '../identity/tokens/purpose-token.policy';
export { type Purpose, PurposeTokens, endChallenges, fingerprintFor } from '../identity/tokens/purpose-tokens';
export { type SecondFactorTable, idColumnOf, shownBy, withTokenMethods } from '../identity/users/columns';
export { canonicalEmail, comparedAs, idText, keptAs } from '../identity/users/identifiers';
export { Grant } from '../identity/users/grant';
export { ProvedEmails } from '../identity/users/proved-emails';
export {
  blocksUnverified,
  implement,
  knowsEmailState,
  overrides,
  sharedColumn,
  unmailedUsers,
} from '../identity/users/provider-checks';
export type { RowBeside } from '../identity/users/typeorm-accounts';
export { type LookUp, type MailedAccount, TimedUserProvider } from '../identity/users/timed-user-provider';
export { TypeormUserProvider } from '../identity/users/typeorm-user-provider';
