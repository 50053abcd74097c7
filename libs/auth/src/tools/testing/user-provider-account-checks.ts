import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NewAccount, UserProvider } from '../../foundation/ports/user-provider';
import {
  type Check,
  type ContractKit,
  NO_IDS,
  OUTSIDE,
  addMany,
  agreed,
  given,
  when,
  answer,
  emailOf,
  lookUpsOf,
  takesFirstHash,
  writesNothing,
  type Calls,
  isAnswered503,
  keepsHash,
  lenient,
  namesNoUser,
  newHash,
  oneWinner,
  shown,
} from './contract-kit';

const creates = ({ users }: ContractKit): boolean => users.offers('create');
const verifies = ({ users }: ContractKit): boolean => users.offers('markEmailVerified');
const deletes = ({ users }: ContractKit): boolean => users.offers('delete');

/** Finds out ids with a user as the library does. */
const finds = ({ users }: Pick<ContractKit, 'users'>): boolean =>
  users.existingIds !== UserProvider.prototype.existingIds;

const newAccount = (kit: ContractKit) => ({
  identifier: kit.identifier(),
  passwordHash: newHash(),
  name: 'Grace Hopper',
});

/** A mark that is later than the user, also where the column stores whole seconds. Waits two seconds at most. */
async function markAfter(users: UserProvider, id: string): Promise<string> {
  const end = performance.now() + 2000;
  let mark: string;
  do {
    await sleep(1);
    mark = await users.currentMark!();
  } while (performance.now() < end && (await users.wasCreatedSince!(id, mark)));
  return mark;
}

const creation: Check[] = [
  when(creates, 'create stores the account and returns its user', async (kit) => {
    const account = newAccount(kit);
    // As the registration does. A cache has this answer afterwards.
    assert.equal(await kit.users.findByIdentifier(account.identifier), null);
    const user = await kit.another.create(account);
    assert.ok(user, 'create returned null for an identifier that no user has');
    const found = await kit.users.findByIdentifier(account.identifier);
    assert.ok(found, 'findByIdentifier does not find the new user');
    assert.equal(kit.users.idOf(found.user), kit.users.idOf(user));
    assert.equal(found.passwordHash, account.passwordHash);
    const isShown = JSON.stringify(user).includes(account.passwordHash);
    assert.ok(!isShown, 'the result of create has the password hash in its JSON');
    const added = { id: kit.users.idOf(user), identifier: account.identifier };
    const { isEmailVerified } = await agreed(kit, added, { create: user });
    if (verifies(kit)) assert.equal(isEmailVerified, false, 'a new user counts as verified');
    const name = await kit.nameOf(found.user);
    if (name !== undefined) assert.equal(name, account.name, 'create has not stored the name. See nameOf');
  }),
  when(
    (kit) => creates(kit) && kit.usersWithoutPassword,
    'create stores an account without a password',
    async (kit) => {
      // For `features.passkeyRegistration`.
      const account = { ...newAccount(kit), passwordHash: null };
      const user = await kit.another.create(account);
      assert.ok(user, 'create returned null for an account without a password, which no user has');
      await takesFirstHash(kit, { ...account, id: kit.users.idOf(user) });
    },
  ),
  when(creates, 'create does not answer an error with null', async (kit) => {
    // A database refuses some of them: PostgreSQL stores no NUL, and a column can be NOT NULL or have a limit.
    for (const fields of [{ name: 'Ada\0' }, { name: 'x'.repeat(100_000) }, { name: null }, { passwordHash: '\0' }]) {
      const user = await lenient(() => kit.users.create({ ...newAccount(kit), ...fields } as NewAccount));
      const why = 'although no user has the identifier. Throw: null says that it is taken';
      assert.notEqual(user, null, `create returned null for ${shown(fields)} ${why}`);
    }
  }),
  when(creates, 'create returns null for an identifier that is taken, and changes nothing', async (kit) => {
    const account = newAccount(kit);
    const id = kit.users.idOf((await kit.users.create(account))!);
    const before = JSON.stringify(await kit.users.findById(id));
    const again = await answer('create with a taken identifier', () =>
      kit.users.create({ ...account, passwordHash: newHash(), name: 'Mallory' }),
    );
    assert.equal(again, null, 'create returned a user for a taken identifier: the client would get its account');
    await keepsHash(kit, { ...account, id }, 'create with a taken identifier');
    assert.equal(
      JSON.stringify(await kit.users.findById(id)),
      before,
      'create has changed the owner of the identifier',
    );
  }),
  when(creates, 'create lets one of concurrent calls with one identifier succeed', async (kit) => {
    await oneWinner(kit, async () => {
      const account = newAccount(kit);
      const create = () => kit.users.create({ ...account, passwordHash: newHash() });
      return { call: async () => (await answer('create beside others', create)) !== null };
    });
  }),
  when(
    ({ users }) => users.imitateCreation !== UserProvider.prototype.imitateCreation,
    'imitateCreation changes nothing',
    async (kit) => {
      const ada = await kit.add();
      const before = JSON.stringify(await kit.users.findById(ada.id));
      await kit.users.imitateCreation(ada.id);
      assert.equal(JSON.stringify(await kit.users.findById(ada.id)), before, 'imitateCreation changed the user');
      await keepsHash(kit, ada, 'imitateCreation');
    },
  ),
  when(
    ({ users }) => users.offers('currentMark'),
    'wasCreatedSince is true only for users that were created after the mark',
    async (kit) => {
      const { users, add } = kit;
      const former = await add();
      const mark = await markAfter(users, former.id);
      const { id } = await add();
      assert.equal(await users.wasCreatedSince(id, mark), true, 'a user that was created after the mark');
      await users.savePasswordHash(former.id, newHash());
      assert.equal(await users.wasCreatedSince(former.id, mark), false, 'a user that was only changed after the mark');
      assert.equal(await users.wasCreatedSince(id, await markAfter(users, id)), false, 'a later mark');
    },
  ),
];

const verification: Check[] = [
  when(verifies, 'markEmailVerified marks the current email, once', async (kit) => {
    const { users, add } = kit;
    const { id, identifier } = await add();
    const before = await agreed(kit, { id, identifier });
    const email = before.emailOf ?? identifier;
    assert.equal(before.isEmailVerified, false, 'a new user counts as verified');
    const now = new Date();
    for (const other of [kit.identifier(), '', undefined, null, { not: '' }]) {
      const isMarked = await lenient(() => users.markEmailVerified(id, other as string, now));
      assert.notEqual(isMarked, true, `markEmailVerified accepted the email ${shown(other)}`);
      assert.notEqual(users.isEmailVerified((await users.findById(id))!), true, shown(other));
    }
    assert.equal(await kit.another.markEmailVerified(id, email, now), true);
    const after = await agreed(kit, { id, identifier });
    assert.equal(after.isEmailVerified, true, 'a later read does not return the change');
    assert.equal(await users.markEmailVerified(id, email, now), false, 'it was verified before');
  }),
  when(verifies, 'markEmailVerified lets one of concurrent calls succeed', async (kit) => {
    await oneWinner(kit, async () => {
      const ada = await kit.add();
      const email = await emailOf(kit, ada);
      return { id: ada.id, call: () => kit.users.markEmailVerified(ada.id, email, new Date()) };
    });
  }),
  when(verifies, 'markEmailVerified changes nothing for an id that no user has', async (kit) => {
    await namesNoUser(kit);
    const { users } = kit;
    const ada = await kit.add();
    // No other user has this email, so it limits the write to one user.
    const email = await emailOf(kit, ada);
    const mark = (id: string) => users.markEmailVerified(id, email, new Date());
    await writesNothing('markEmailVerified', mark, async (why) =>
      assert.notEqual(users.isEmailVerified((await users.findById(ada.id))!), true, why),
    );
  }),
];

const absence: Check[] = [
  when(
    ({ absent }) => absent !== null,
    'a write by the id of no user returns false and stores nothing, also if it has the form of an id',
    async (kit) => {
      const { users, noFactor, newFactor } = kit;
      const { id, identifier } = await kit.absent!();
      const ofFactors = users.offers('secondFactorOf') ? [noFactor, newFactor()] : [];
      const writes: Calls = [
        ...[undefined, null, newHash()].map((replacing): Calls[number] => [
          `savePasswordHash with replacing = ${shown(replacing)}`,
          () => users.savePasswordHash(id, newHash(), replacing),
        ]),
        ...ofFactors.map((current): Calls[number] => [
          `replaceSecondFactor with current = ${shown(current)}`,
          () => users.replaceSecondFactor(id, current, newFactor()),
        ]),
      ];
      if (verifies(kit)) writes.push(['markEmailVerified', () => users.markEmailVerified(id, identifier, new Date())]);
      for (const [name, write] of writes) {
        const result = await answer(name, write);
        // Without a result the library reads the hash, which is checked below.
        const isRefused = result === false || (result === undefined && name.startsWith('savePasswordHash'));
        assert.ok(isRefused, `${name} returned ${shown(result)} for the id ${shown(id)}, which no user has`);
        assert.equal(await users.findById(id), null, `${name} has created a user with the id ${shown(id)}`);
        assert.equal(await users.passwordHashOf(id), null, `${name} has stored a hash for the id ${shown(id)}`);
      }
      if (users.offers('secondFactorOf')) assert.equal(await users.secondFactorOf(id), null, `of the id ${shown(id)}`);
    },
  ),
];

const deletion: Check[] = [
  when(deletes, 'delete removes the user from every look-up', async (kit) => {
    const { users } = kit;
    const [ada, bob] = [await kit.add(), await kit.add()];
    const lookUps = lookUpsOf(users, ada);
    if (users.offers('secondFactorOf')) await users.replaceSecondFactor(ada.id, kit.noFactor, kit.newFactor());
    // A cache has the user after these reads.
    for (const [name, find] of lookUps) assert.ok(await find(), `${name} does not find the user before its deletion`);
    assert.equal(await kit.delete(ada.id), true);
    for (const [name, find] of lookUps) assert.equal(await find(), null, `${name} finds the deleted user`);
    await keepsHash(kit, bob, 'delete of another user');
  }),
  when(deletes, 'delete returns false for a user that does not exist, and deletes no other', async (kit) => {
    // A deletion has no condition but the id, so nothing else limits it to one user.
    await namesNoUser(kit);
    const [ada, bob] = [await kit.add(), await kit.add()];
    await kit.delete(ada.id);
    await writesNothing('delete', kit.delete, (why) => keepsHash(kit, bob, why), [ada.id, ...NO_IDS]);
  }),
  when(
    (kit) => deletes(kit) && creates(kit),
    'delete removes the user permanently: its identifier is free again',
    async (kit) => {
      const account = newAccount(kit);
      await kit.delete(kit.users.idOf((await kit.users.create(account))!));
      assert.ok(await kit.users.create(account), 'create returned null: the row of the deleted user is still stored');
    },
  ),
  when(
    ({ deletesInTransaction }) => deletesInTransaction,
    'delete is undone if its transaction is rolled back',
    async (kit) => {
      const ada = await kit.add();
      await kit.undoneDeletion(ada.id, async () => undefined);
      assert.ok(await kit.users.findById(ada.id), OUTSIDE);
      await keepsHash(kit, ada, 'a deletion that was rolled back');
    },
  ),
  when(finds, 'existingIds contains every id that has a user, and no deleted one', async (kit) => {
    // More than one page of a provider, and more values than some databases take in one list.
    const ids = (await addMany(kit, 1100)).map(({ id }) => id);
    const deleted = deletes(kit) ? (await kit.add()).id : null;
    if (deleted !== null) await kit.delete(deleted);
    const asked = [...ids, ...(deleted === null ? [] : [deleted]), 'x', '', 'undefined', '\0'];
    const found = await answer('existingIds', () => kit.users.existingIds(asked));
    const missing = found === null ? [] : ids.filter((id) => !found.has(id));
    const why = 'whose data would be deleted. Return all or null';
    assert.equal(missing.length, 0, `existingIds leaves out ${missing.length} of ${ids.length} users, ${why}`);
    if (deleted !== null) assert.ok(!found?.has(deleted), 'existingIds contains a deleted user');
    assert.ok(found === null || (await kit.users.existingIds([]))?.size === 0, 'existingIds of no ids');
  }),
];

const outage: Check[] = [
  given(
    'unreachable',
    'every look-up and every write throws while the store does not answer',
    async ({ unreachable, add, identifier, endedManager, noFactor, newFactor }) => {
      const { id, identifier: email } = await add();
      const [users, manager] = [await unreachable(), await endedManager()];
      const account = { identifier: identifier(), passwordHash: newHash(), name: 'Ada' };
      const change = { from: email, to: `new.${email}`, verifiedAt: new Date() };
      const calls: [is: boolean, method: string, call: () => Promise<unknown>][] = [
        [true, 'findByEmail', () => users.findByEmail(identifier())],
        [true, 'savePasswordHash', () => users.savePasswordHash(id, newHash(), newHash())],
        [
          users.offers('secondFactorOf'),
          'replaceSecondFactor',
          () => users.replaceSecondFactor(id, noFactor, newFactor()),
        ],
        [users.offers('create'), 'create', () => users.create(account)],
        [users.offers('currentMark'), 'currentMark', () => users.currentMark()],
        [users.offers('currentMark'), 'wasCreatedSince', () => users.wasCreatedSince(id, new Date(0).toISOString())],
        [users.offers('markEmailVerified'), 'markEmailVerified', () => users.markEmailVerified(id, email, new Date())],
        [users.offers('changeEmail'), 'changeEmail', () => users.changeEmail(id, change, manager)],
        [users.offers('changeIdentifier'), 'changeIdentifier', () => users.changeIdentifier(id, change)],
        // `false` would commit the deletion of all other data of the account, and the user would remain.
        [users.offers('delete'), 'delete', () => users.delete(id, manager)],
      ];
      for (const [method, call] of lookUpsOf(users, { id, identifier: identifier() }))
        await isAnswered503(method, call);
      for (const [is, method, call] of calls) if (is) await isAnswered503(method, call);
      // The passkeys of the ids that a result leaves out would be deleted. Null says that there is no result.
      if (finds({ users }))
        await isAnswered503(
          'existingIds',
          () => users.existingIds([id]),
          (ids) => ids === null,
        );
    },
  ),
];

/** The checks of the life of an account, in the order of the port. */
export const ACCOUNT_CHECKS: readonly Check[] = [...creation, ...verification, ...absence, ...deletion, ...outage];
