import { strict as assert } from 'node:assert';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { EntityManager } from 'typeorm';
import { isUnavailable } from '../../foundation/platform/deadline';
import {
  type ReplacementResult,
  type Replacing,
  type StoredSecondFactor,
  type UserProvider,
} from '../../foundation/ports/user-provider';

/** A user of the contract, as it was stored. */
export interface AddedUser {
  readonly id: string;
  readonly identifier: string;
  readonly passwordHash: string | null;
  readonly name: string;
}

/** What the checks need of a provider and its store. */
export interface ContractKit {
  /** A check of an optional port runs only where the provider offers it. */
  readonly users: Required<UserProvider>;
  /** Writes what {@link users} must read afterwards. It is {@link users} if there is no other. */
  readonly another: Required<UserProvider>;
  readonly username: string;
  /** A provider whose store does not answer. */
  unreachable(): Promise<Required<UserProvider>>;
  identifier(): string;
  add(passwordHash?: string | null): Promise<AddedUser>;
  /** Whether a user can have no password. */
  readonly usersWithoutPassword: boolean;
  delete(id: string): Promise<boolean>;
  /** Whether `delete` deletes in the transaction that it is given. */
  readonly deletesInTransaction: boolean;
  /** Calls `delete` in a transaction, then `work`, and rolls the transaction back. */
  undoneDeletion(id: string, work: () => Promise<unknown>): Promise<void>;
  /**
   * Calls `changeEmail` in a transaction, which is rolled back unless the result is `changed`.
   *
   * @param undoes whether it is always rolled back
   */
  changeEmail(id: string, change: Replacing, undoes?: boolean): Promise<ReplacementResult>;
  /** An id of the right form that no user has, and an identifier for it; null if the contract cannot know one. */
  readonly absent: (() => Promise<Pick<AddedUser, 'id' | 'identifier'>>) | null;
  /** The name of a user; undefined if users do not show it. */
  nameOf(user: object): Promise<unknown>;
  /** The manager of a transaction that has ended: each of its queries fails. */
  endedManager(): Promise<EntityManager>;
  /** The state of a user without a second factor. */
  readonly noFactor: StoredSecondFactor;
  newFactor(): StoredSecondFactor;
}

type Run = (kit: ContractKit) => Promise<void>;

export interface Check {
  readonly name: string;
  /** The member of the contract without which this cannot be checked. */
  readonly requires?: 'insert' | 'unreachable';
  /** Whether the provider has this part of the port. Default: every provider has it. */
  readonly needs?: (kit: ContractKit) => boolean;
  readonly check: Run;
}

/** A check of what every provider has. */
export const always = (name: string, check: Run): Check => ({ name, check });

/** A check of a part of the port that not every provider has. */
export const when = (needs: Check['needs'], name: string, check: Run): Check => ({ name, needs, check });

/** A check that is not possible without a member of the contract. */
export const given = (requires: Check['requires'], name: string, check: Run): Check => ({ name, requires, check });

/** Concurrent calls of a round. */
const RACERS = 8;

/** Rounds: two statements overlap in a part of them only. Without a lock that they wait for, chance alone finds a mistake. */
const [ROUNDS, ROUNDS_BY_CHANCE] = [20, 40];

/** Rounds in which all calls wait for one lock, and the milliseconds that it is held. */
const [HELD_ROUNDS, HELD_MS] = [2, 50];

/** A text in the form of a password hash. No password matches it. */
export const newHash = (): string => {
  const base64 = (bytes: number): string => randomBytes(bytes).toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=19456,t=2,p=1$${base64(16)}$${base64(32)}`;
};

/** Texts that are the id of no user. PostgreSQL reads some of them as `id`, depending on the type of its column. */
export const textsBeside = (id: string): string[] => {
  const general = ['', ' ', '%', '_', '0', '-1', '1e3', 'NaN', 'true', 'null', 'undefined', '[object Object]', '\0'];
  const odd = ['\ud800', '𝕏', `'`, "' OR 1=1 --", '99999999999999999999999999', 'x'.repeat(10_000), randomUUID()];
  const near = [`${id}\0`, `${id} `, ` ${id}`, `0${id}`, `+${id}`, `${id}.0`, `{${id}}`, `urn:uuid:${id}`];
  const forms = [id.toUpperCase(), id.toLowerCase(), id.replaceAll('-', '')].filter((text) => text !== id);
  return [...general, ...odd, ...near, ...forms];
};

/** Values that are not a text. A query of some libraries takes them as "no condition" or as an operator. */
export const valuesBeside = (text: string): unknown[] => {
  const operators = [{}, { not: '' }, { not: null }, { contains: '' }];
  return [undefined, null, NaN, true, [], [text], () => text, ...operators];
};

export const shown = (value: unknown): string => inspect(value, { maxStringLength: 60 });

/** The answer for a text that a client can send. */
export async function answer<T>(call: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    return assert.fail(`${call} threw: ${(error as Error)?.message}. An error is answered 500 or 503; return null.`);
  }
}

/** The answer for a value that only a mistake of code can pass. It may throw. */
export async function lenient<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}

/** Checks that a look-up by a text finds nothing for any other text or value. */
export async function findsNothing(
  method: 'findById' | 'passwordHashOf' | 'secondFactorOf' | 'findByIdentifier' | 'findByEmail',
  { users }: ContractKit,
  texts: readonly string[],
  values: readonly unknown[] = [],
): Promise<void> {
  const find = (text: string): Promise<unknown> => users[method](text);
  for (const text of texts) {
    const found = await answer(`${method}(${shown(text)})`, () => find(text));
    assert.equal(found, null, `${method}(${shown(text)}) returned ${shown(found)}. Return null: it is another text.`);
  }
  for (const value of values) {
    const found = await lenient(() => find(value as string));
    assert.ok(!found, `${method}(${shown(value)}) returned ${shown(found)}. Only a text can name a user.`);
  }
}

/** Calls that begin at the same time, and resolve to whether they have won; `id` is the user whose row they change. */
export interface Race {
  readonly id?: string;
  readonly call: (racer: number) => Promise<boolean>;
}

/** Calls at the same time, in rounds. Exactly one call of a round wins. */
export async function oneWinner(kit: ContractKit, begin: () => Promise<Race>): Promise<void> {
  let rounds = ROUNDS;
  for (let round = 0; round < rounds; round++) {
    const { id, call } = await begin();
    const canHold = id !== undefined && kit.deletesInTransaction;
    if (!canHold) rounds = ROUNDS_BY_CHANCE;
    // A call that has to open a connection, or whose connection was idle, comes later than the others.
    await inParallel(RACERS, () => kit.users.findByIdentifier(kit.identifier()));
    const all = (): Promise<boolean[]> => inParallel(RACERS, call);
    const winners = (await (canHold && round < HELD_ROUNDS ? whileLocked(kit, id, all) : all())).filter(Boolean).length;
    const why = `${winners} of ${RACERS} concurrent calls succeeded. One statement must compare and write.`;
    assert.equal(winners, 1, why);
  }
}

/**
 * Begins work while the row of a user is locked by a deletion, which is rolled back. Every statement has read the former
 * values when it gets the lock, so one that does not compare them again writes in each round, and not by chance.
 */
async function whileLocked<T>(kit: ContractKit, id: string, work: () => Promise<T>): Promise<T> {
  let result: Promise<T> | undefined;
  await kit.undoneDeletion(id, async () => {
    assert.ok(await kit.users.findById(id), OUTSIDE);
    result = work();
    // An error is that of the caller, who awaits the result after the transaction.
    result.catch(() => undefined);
    await sleep(HELD_MS);
  });
  return result!;
}

/** Why a deletion that does not use the transaction of its manager breaks the contract. */
export const OUTSIDE =
  'delete does not use the transaction of the manager that it is given: if the deletion of the other data fails, the ' +
  'user is lost. For users in another database, set deletesInTransaction: false';

export const inParallel = <T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

/** Adds users, as many at the same time as there are connections. */
export async function addMany(kit: ContractKit, count: number): Promise<AddedUser[]> {
  const added: AddedUser[] = [];
  while (added.length < count)
    added.push(...(await inParallel(Math.min(RACERS, count - added.length), () => kit.add())));
  return added;
}

/** What the library reads from a user. */
function readFrom({ users }: ContractKit, user: object) {
  const [email, isVerified] = [users.emailOf(user), users.isEmailVerified(user)];
  assert.ok(email === null || typeof email === 'string', `emailOf returned ${shown(email)}`);
  assert.ok([true, false, null].includes(isVerified), `isEmailVerified returned ${shown(isVerified)}`);
  return {
    idOf: users.idOf(user),
    publicIdOf: users.publicIdOf(user),
    identifierOf: users.identifierOf(user),
    emailOf: email,
    // Null, an unknown state, counts as not verified.
    isEmailVerified: isVerified === true,
  };
}

/**
 * Checks that the users of all look-ups agree with that of `findById`, and that it has this id.
 *
 * @param others users of other methods, by the name of the method
 * @returns what the library reads from them
 */
export async function agreed(
  kit: ContractKit,
  { id, identifier }: Pick<AddedUser, 'id' | 'identifier'>,
  others: Readonly<Record<string, object>> = {},
): Promise<ReturnType<typeof readFrom>> {
  const { users } = kit;
  const user = await users.findById(id);
  assert.ok(user, `findById(${shown(id)}) returned ${shown(user)} for an existing user`);
  const expected = readFrom(kit, user);
  const { idOf, emailOf } = expected;
  assert.equal(idOf, id, 'idOf must return the id with which findById finds the user');
  const found: Record<string, object | null | undefined> = {
    ...others,
    findByIdentifier: (await users.findByIdentifier(identifier))?.user,
  };
  const byEmail = emailOf === null ? null : await users.findByEmail(emailOf);
  // Another identifier than the email needs no look-up by email without password resets.
  if (byEmail || (emailOf !== null && kit.username === 'email')) found.findByEmail = byEmail;
  for (const [method, other] of Object.entries(found)) {
    assert.ok(other, `${method} returned ${shown(other)} for an existing user`);
    const actual = readFrom(kit, other);
    assert.deepEqual(
      actual,
      expected,
      `the user of ${method} is ${shown(actual)}, and that of findById ${shown(expected)}. Select the same columns.`,
    );
  }
  return expected;
}

export const replaced = (isStored: boolean | void): string => `savePasswordHash returned ${String(isStored)}`;

/** Fails if a user has another hash than the one it was stored with. */
export async function keepsHash({ users }: ContractKit, { id, passwordHash }: AddedUser, why: string): Promise<void> {
  assert.equal(await users.passwordHashOf(id), passwordHash, `${why} changed the password of a user`);
}

/** Ids of no user, for writes. */
export const NO_IDS: readonly unknown[] = [undefined, null, '', 'undefined', randomUUID(), {}, { not: '' }];

/**
 * Checks that a write does nothing for the ids of no user. `isKept` fails if it has changed a user.
 *
 * @param write limits itself to one user by its other values, so that a provider that takes an id as "no condition" does not
 * change all users of the database
 */
export async function writesNothing(
  method: string,
  write: (id: string) => Promise<unknown>,
  isKept: (why: string) => Promise<void>,
  ids: readonly unknown[] = NO_IDS,
): Promise<void> {
  for (const id of ids) {
    const result = await lenient(() => write(id as string));
    assert.notEqual(result, true, `${method} returned true for the id ${shown(id)}`);
    await isKept(`${method} with the id ${shown(id)}`);
  }
}

/**
 * Checks that no value of {@link NO_IDS} names a user: by look-ups, and then by a write which `replacing` limits to one user.
 * It runs before every write by these values: a provider that takes a value as "no condition" fails here.
 */
export async function namesNoUser(kit: ContractKit): Promise<void> {
  await findsNothing('findById', kit, [], NO_IDS);
  await findsNothing('passwordHashOf', kit, [], NO_IDS);
  const ada = await kit.add();
  const save = (id: string) => kit.users.savePasswordHash(id, newHash(), ada.passwordHash);
  await writesNothing('savePasswordHash', save, (why) => keepsHash(kit, ada, why));
}

/** The look-ups of a user, by the names of their methods. */
export const lookUpsOf = (
  users: ContractKit['users'],
  { id, identifier }: Pick<AddedUser, 'id' | 'identifier'>,
): Calls => [
  ['findById', () => users.findById(id)],
  ['findByIdentifier', () => users.findByIdentifier(identifier)],
  ['passwordHashOf', () => users.passwordHashOf(id)],
  ...(users.offers('secondFactorOf') ? ([['secondFactorOf', () => users.secondFactorOf(id)]] satisfies Calls) : []),
];

export type Calls = [method: string, call: () => Promise<unknown>][];

/** The email of a user; its identifier for users that show no email. */
export const emailOf = async ({ users }: ContractKit, { id, identifier }: AddedUser): Promise<string> =>
  users.emailOf((await users.findById(id))!) ?? identifier;

/** Checks that a user has no password, and that its first one can be stored. */
export async function takesFirstHash(
  { users }: ContractKit,
  { id, identifier }: Pick<AddedUser, 'id' | 'identifier'>,
): Promise<void> {
  const why = 'a user without a password has one in the store';
  assert.equal((await users.findByIdentifier(identifier))?.passwordHash, null, why);
  assert.equal(await users.passwordHashOf(id), null, why);
  const hash = newHash();
  assert.notEqual(await users.savePasswordHash(id, hash, null), false, 'savePasswordHash has stored no first password');
  assert.equal(await users.passwordHashOf(id), hash);
}

/** Checks that a call fails as it does while a store does not answer. */
export async function isAnswered503<T>(
  name: string,
  call: () => Promise<T>,
  accepts: (result: T) => boolean = () => false,
): Promise<void> {
  const outcome = await (async () => call())().then(
    (result) => (accepts(result) ? null : `returned ${shown(result)}, as if the store had answered`),
    (error) => (isUnavailable(error) ? null : `threw ${shown(error)}, which is answered 500`),
  );
  assert.equal(outcome, null, `${name} ${outcome}. Throw the error of the driver, or StoreUnavailable.`);
}
