import type { INestApplicationContext } from '@nestjs/common';
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { Auth } from '../../auth';
import { otpLibrary } from './otp-library';
import { Clock, Realms, errors, identity } from '../../kit';
import {
  type AddedUser,
  type Check,
  type ContractKit,
  NO_IDS,
  findsNothing,
  namesNoUser,
  newHash,
  oneWinner,
  shown,
  textsBeside,
  valuesBeside,
  when,
  writesNothing,
} from '../../tools/testing/contract-kit';
import { NO_SECOND_FACTOR } from './two-factor-columns';
import { MOST_CODES } from './recovery-codes';

/** Time step in seconds (RFC 6238 §4.1). */
const STEP = 30;

/**
 * Computes the code of a user's authenticator (RFC 6238). A code is accepted once: for another code advance the clock by
 * 30 seconds, or set `ahead`.
 *
 * @param otpauthUri the `otpauth_uri` from the response of `POST /two-factor`
 * @param clock the application's clock, if it is a movable one
 * @param ahead number of time steps to look ahead
 * @throws AuthConfigError if the optional peer otplib is not installed
 * @publicApi
 */
export function totpCode(otpauthUri: string, clock = new Clock(), ahead = 0): string {
  const secret = new URL(otpauthUri).searchParams.get('secret') ?? '';
  return otpLibrary()().generateSync({ secret, epoch: clock.seconds() + ahead * STEP });
}

/** An enabled second factor, as its owner has it. */
export interface EnrolledFactor {
  /** The key of the authenticator app in Base32. */
  readonly secret: string;
  /** The `otpauth_uri` of the enrolment. */
  readonly otpauthUri: string;
  /** The recovery codes. Each is valid once. */
  readonly recoveryCodes: readonly string[];
  /**
   * The code of the authenticator app by the clock of the application. A code is valid once: for another one advance the
   * clock by 30 seconds, or set `ahead`.
   *
   * @param ahead number of time steps to look ahead; default 0. `twoFactor.window` (1) limits what is accepted
   */
  code(ahead?: number): string;
}

/**
 * Enables the second factor of a user without a request: the user has it from now on, at the login and in the database.
 * The current code is not used up by the enrolment if `twoFactor.window` is at least 1.
 *
 * @param user the id of the user
 * @param guard the guard of the user; default: the default guard
 * @throws Unauthenticated for an unknown user
 * @throws AlreadyEnrolled if the user has a second factor
 * @throws AuthConfigError for an unknown guard, when `features.twoFactor` is off for the guard, and when the optional peer
 * otplib is not installed
 * @example
 * const factor = await enrolTwoFactor(app, user.id);
 * await request(app.getHttpServer()).post('/auth/two-factor-challenge').send({ challenge_token, code: factor.code() });
 * @publicApi
 */
export async function enrolTwoFactor(
  app: INestApplicationContext,
  user: string | number,
  guard?: string,
): Promise<EnrolledFactor> {
  const realms = app.get(Realms, { strict: false });
  const scope = realms.named(guard) ?? realms.default;
  const { guard: name, options } = scope.realm;
  const { twoFactor } = app.get(Auth, { strict: false }).guard(name);
  const clock = app.get(Clock, { strict: false });
  const account = await scope.get(identity.UserProvider).findById(String(user));
  if (!account) throw new errors.Unauthenticated(false);
  const { otpauthUri, recoveryCodes } = await twoFactor.enrol(account);
  const code = (ahead = 0): string => totpCode(otpauthUri, clock, ahead);
  const confirm = (): Promise<void> => twoFactor.confirm(String(user), code(options.twoFactor.window > 0 ? -1 : 0));
  // Repeated once, because a time step can end between the computation of the code and its check.
  await confirm().catch(confirm);
  return { secret: new URL(otpauthUri).searchParams.get('secret')!, otpauthUri, recoveryCodes, code };
}

/** A date with milliseconds, in the past. */
const newDate = (): Date => new Date(1_790_000_000_000 + Math.floor(Math.random() * 1e9));

export const newFactor = (): identity.StoredSecondFactor => ({
  secret: `v1.secret-${randomUUID()}-é`.padEnd(128, 'x'),
  // As many as the library stores: a column with a limit cuts them off or refuses them.
  recoveryCodes: JSON.stringify(Array.from({ length: MOST_CODES }, newHash)),
  confirmedAt: newDate(),
});

/** Compares dates by milliseconds: a database can store a higher precision. */
const plainFactor = (factor: identity.StoredSecondFactor | null) =>
  factor && { ...factor, confirmedAt: factor.confirmedAt && new Date(factor.confirmedAt).getTime() };

/** Fails if a user has another second factor. */
async function hasFactor(
  { users }: ContractKit,
  id: string,
  factor: identity.StoredSecondFactor,
  why?: string,
): Promise<void> {
  assert.deepEqual(plainFactor(await users.secondFactorOf(id)), plainFactor(factor), why);
}

/** Whether the library takes two states for one. */
const isSameFactor = (a: identity.StoredSecondFactor, b: identity.StoredSecondFactor): boolean =>
  a.secret === b.secret && a.recoveryCodes === b.recoveryCodes && !a.confirmedAt === !b.confirmedAt;

async function storedFactor(kit: ContractKit): Promise<{ user: AddedUser; factor: identity.StoredSecondFactor }> {
  const user = await kit.add();
  const factor = newFactor();
  const isStored = await kit.users.replaceSecondFactor(user.id, NO_SECOND_FACTOR, factor);
  assert.equal(isStored, true, 'replaceSecondFactor must return true for a new user and the state NO_SECOND_FACTOR');
  return { user, factor };
}

const storesFactors = ({ users }: ContractKit): boolean => users.offers('secondFactorOf');

/** The checks of a provider that stores second factors. */
export const SECOND_FACTOR_CHECKS: readonly Check[] = [
  when(
    storesFactors,
    'secondFactorOf returns the state of the user, and null for any other text or value',
    async (kit) => {
      const { id } = await kit.add();
      await hasFactor(kit, id, NO_SECOND_FACTOR);
      await findsNothing('secondFactorOf', kit, textsBeside(id), valuesBeside(id));
      const { user, factor } = await storedFactor(kit);
      await hasFactor(kit, user.id, factor);
      await hasFactor(kit, id, NO_SECOND_FACTOR);
    },
  ),
  when(storesFactors, 'replaceSecondFactor accepts the state that secondFactorOf returned', async (kit) => {
    const { user } = await storedFactor(kit);
    // The library spends one recovery code, removes the factor and enrols again.
    for (const change of [{ recoveryCodes: '[]' }, NO_SECOND_FACTOR, { secret: 'v1.pending' }, newFactor()]) {
      const current = (await kit.users.secondFactorOf(user.id))!;
      const next = { ...current, ...change };
      assert.equal(await kit.another.replaceSecondFactor(user.id, current, next), true, shown({ current, next }));
      await hasFactor(kit, user.id, next);
    }
  }),
  when(storesFactors, 'replaceSecondFactor stores nothing if another state than `current` is stored', async (kit) => {
    const { user, factor } = await storedFactor(kit);
    const pending = { ...factor, confirmedAt: null };
    const others: Partial<identity.StoredSecondFactor>[] = [
      { secret: 'v1.other' },
      { secret: null },
      { recoveryCodes: '[]' },
      { recoveryCodes: null },
      { confirmedAt: null },
      NO_SECOND_FACTOR,
    ];
    let current: identity.StoredSecondFactor = factor;
    // A factor that was removed, or is enrolled again, must not be enabled by a request that has read the former one.
    for (const stored of [factor, pending, NO_SECOND_FACTOR]) {
      if (stored !== current) assert.equal(await kit.users.replaceSecondFactor(user.id, current, stored), true);
      current = stored;
      const outdated = [factor, pending, ...others.map((change) => ({ ...factor, ...change }))];
      for (const wrong of outdated.filter((state) => !isSameFactor(state, stored))) {
        const isStored = await kit.users.replaceSecondFactor(user.id, wrong, newFactor());
        const states = `stored ${shown(stored)}, and given ${shown(wrong)}`;
        assert.equal(isStored, false, `replaceSecondFactor returned ${shown(isStored)} for another state: ${states}`);
        await hasFactor(kit, user.id, stored, states);
      }
    }
  }),
  when(
    storesFactors,
    'replaceSecondFactor lets one of concurrent calls with the same `current` succeed',
    async (kit) => {
      await oneWinner(kit, async () => {
        const { user, factor } = await storedFactor(kit);
        // Two requests that spend one recovery code.
        const call = (racer: number) =>
          kit.users.replaceSecondFactor(user.id, factor, { ...factor, recoveryCodes: `["${racer}"]` });
        return { id: user.id, call };
      });
    },
  ),
  when(storesFactors, 'replaceSecondFactor changes nothing for an id that no user has', async (kit) => {
    await namesNoUser(kit);
    await findsNothing('secondFactorOf', kit, [], NO_IDS);
    // No other user has this factor, so `current` limits the write to one user.
    const { user, factor } = await storedFactor(kit);
    const replace = (id: string) => kit.users.replaceSecondFactor(id, factor, newFactor());
    await writesNothing('replaceSecondFactor', replace, (why) => hasFactor(kit, user.id, factor, why));
  }),
];
