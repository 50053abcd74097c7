import type { INestApplicationContext } from '@nestjs/common';
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { Database } from '../../foundation/platform/database';
import { type NewAccount, type ReplacementResult, UserProvider } from '../../foundation/ports/user-provider';
import { Realms } from '../../foundation/realm/realm';
import { SECOND_FACTOR_CHECKS, newFactor } from '../../features/two-factor/testing';
import { NO_SECOND_FACTOR } from '../../features/two-factor/two-factor-columns';
import { type AddedUser, type ContractKit, newHash } from './contract-kit';
import { ACCOUNT_CHECKS } from './user-provider-account-checks';
import { CREDENTIAL_CHECKS } from './user-provider-checks';
import { REPLACEMENT_CHECKS } from './user-provider-replacement-checks';

/** A user that the contract inserts. */
export interface ContractAccount extends Omit<NewAccount, 'passwordHash'> {
  /** PHC string of the password hash; null for a user without a password. */
  passwordHash: string | null;
}

/** What {@link userProviderContract} checks: a provider of an application, or a provider alone. */
export interface UserProviderContract {
  /**
   * Returns the started application. It gives the provider, the name of the identifier and the transactions of `delete`,
   * for each of the members below that is not set.
   */
  app?: () => INestApplicationContext;
  /** The guard of the users. Default: the default guard. */
  guard?: string;
  /** Returns the provider. Default: that of the guard of {@link app}. */
  provider?: () => UserProvider | Promise<UserProvider>;
  /**
   * Returns a second provider on the same store, with its own memory, like that of a second process. It writes what the
   * provider must read, which finds a cache that is emptied by its own writes only. Default: the provider itself.
   */
  another?: () => UserProvider | Promise<UserProvider>;
  /**
   * Stores a user and returns its id in the form of the `sub` claim. Default: `create` of the provider. Without it,
   * {@link userProviderContract} returns no check of users without a password.
   */
  insert?: (account: ContractAccount) => Promise<string>;
  /**
   * Whether {@link insert} and `create` can store a user without a password. Set it to false where the column of the hash takes
   * no null: then the checks of such users are not run, and resolve to `not implemented`. Default: true.
   */
  usersWithoutPassword?: boolean;
  /** Returns an identifier that no user has yet. Default: a random email address of `example.com`. */
  identifier?: () => string;
  /** The option `username`. Default: that of the guard of {@link app}, otherwise `email`. */
  username?: string;
  /**
   * Runs work in a transaction, for `delete`, and rolls it back if the work rejects. Default: a transaction on the tables of
   * {@link app}, otherwise no manager.
   */
  transaction?: (work: (manager: EntityManager) => Promise<unknown>) => Promise<unknown>;
  /**
   * Whether `delete` deletes in the transaction that it is given. Set it to false for users in another database. Default:
   * true with {@link app} or {@link transaction}.
   */
  deletesInTransaction?: boolean;
  /**
   * Returns an id that has the form of an id and that no user has, such as `2147483647`. Default: the id of a user that was
   * just deleted. Without it, a provider that deletes no accounts is not checked with such an id.
   */
  absentId?: () => string | Promise<string>;
  /** Returns the stored name of a user. Default: its member `name`; users without this member are not checked. */
  nameOf?: (user: object) => unknown;
  /**
   * Returns a provider like the one under test whose store does not answer. Without it, {@link userProviderContract} returns
   * no check of an outage.
   */
  unreachable?: () => UserProvider | Promise<UserProvider>;
}

/** One promise of the port, with its test. */
export interface ContractCheck {
  /** The promise, as a sentence. */
  readonly name: string;
  /**
   * Resolves to `not implemented` if the provider does not have this part of the port. It creates its own users.
   *
   * @throws AssertionError of `node:assert` if the provider breaks the promise
   */
  readonly run: () => Promise<'kept' | 'not implemented'>;
}

/**
 * The contract of {@link UserProvider}, as checks for the tests of a host. They use no test framework. They run on a real
 * store, with at least 8 connections: races between statements are a part of it.
 *
 * Run them on an empty database of their own, and delete it afterwards. Each check adds users with new identifiers, and a
 * provider with a mistake can change or delete all users.
 *
 * @example
 * for (const { name, run } of userProviderContract({ app: () => app })) it(name, async () => void (await run()));
 * @publicApi
 */
export function userProviderContract(contract: UserProviderContract): ContractCheck[] {
  return [...CREDENTIAL_CHECKS, ...SECOND_FACTOR_CHECKS, ...ACCOUNT_CHECKS, ...REPLACEMENT_CHECKS]
    .filter(({ requires }) => !requires || contract[requires])
    .map(({ name, needs, check }) => ({
      name,
      run: async () => {
        const kit = await kitOf(contract);
        if (needs && !needs(kit)) return 'not implemented';
        await check(kit);
        return 'kept';
      },
    }));
}

async function kitOf(contract: UserProviderContract): Promise<ContractKit> {
  const { app, guard, provider, insert } = contract;
  const realms = app?.().get(Realms, { strict: false });
  const scope = realms && (realms.named(guard) ?? realms.default);
  const given = (await provider?.()) ?? scope?.get<UserProvider>(UserProvider);
  if (!given) throw new Error('userProviderContract needs app or provider.');
  const users = given as ContractKit['users'];
  const another = ((await contract.another?.()) ?? given) as ContractKit['users'];
  const database = app?.().get(Database, { strict: false });
  const transaction =
    contract.transaction ??
    (async (work) => (database ? database.source.transaction(work) : work(undefined as unknown as EntityManager)));
  const hasTransaction = Boolean(contract.transaction ?? database);
  const identifier = contract.identifier ?? (() => `k_ass.i${randomBytes(8).toString('hex')}@example.com`);
  const stored = async (account: ContractAccount): Promise<string> => {
    if (insert) return insert(account);
    if (!users.offers('create'))
      throw new Error('userProviderContract needs insert: the provider creates no accounts.');
    const user = await users.create(account as NewAccount);
    if (!user) throw new Error(`create returned null for the identifier ${account.identifier}, which no user has.`);
    return users.idOf(user);
  };
  const add = async (passwordHash: string | null = newHash()): Promise<AddedUser> => {
    const account = { identifier: identifier(), passwordHash, name: 'Ada Lovelace' };
    return { ...account, id: await stored(account) };
  };
  /** Runs work in a transaction, and rolls it back unless the work resolves to true. */
  const keptIf = async (work: (manager: EntityManager) => Promise<boolean>): Promise<void> => {
    const undo = new Error('userProviderContract rolls this transaction back.');
    const ended = transaction(async (manager) => {
      if (!(await work(manager))) throw undo;
    });
    await ended.catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  };
  const deleted = async (id: string): Promise<boolean> => {
    let isDeleted = false;
    await transaction(async (manager) => (isDeleted = await another.delete(id, manager)));
    return isDeleted;
  };
  const absent = async (): Promise<Pick<AddedUser, 'id' | 'identifier'>> => {
    if (contract.absentId) return { id: await contract.absentId(), identifier: identifier() };
    const user = await add();
    assert.equal(await deleted(user.id), true, 'delete returned another value than true for an existing user');
    return user;
  };
  return {
    users,
    another,
    username: contract.username ?? scope?.realm.options.username ?? 'email',
    unreachable: async () => (await contract.unreachable!()) as ContractKit['users'],
    identifier,
    add,
    usersWithoutPassword: contract.usersWithoutPassword !== false,
    delete: deleted,
    deletesInTransaction: users.offers('delete') && hasTransaction && contract.deletesInTransaction !== false,
    undoneDeletion: (id, work) =>
      keptIf(async (manager) => {
        assert.equal(await another.delete(id, manager), true, 'delete did not return true for an existing user');
        await work();
        return false;
      }),
    changeEmail: async (id, change, undoes = false) => {
      let result: ReplacementResult = 'stale';
      await keptIf(async (manager) => {
        result = await another.changeEmail(id, { ...change, verifiedAt: new Date(0) }, manager);
        return !undoes && result === 'changed';
      });
      return result;
    },
    absent: contract.absentId || users.offers('delete') ? absent : null,
    nameOf: async (user) => (contract.nameOf ? contract.nameOf(user) : (user as { name?: unknown }).name),
    endedManager: async () => {
      let ended: EntityManager;
      await transaction(async (manager) => (ended = manager));
      return ended!;
    },
    noFactor: NO_SECOND_FACTOR,
    newFactor,
  };
}
