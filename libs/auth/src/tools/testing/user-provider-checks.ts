import { strict as assert } from 'node:assert';
import { UserProvider } from '../../foundation/ports/user-provider';
import {
  type Check,
  type ContractKit,
  agreed,
  always,
  when,
  answer,
  findsNothing,
  keepsHash,
  namesNoUser,
  newHash,
  oneWinner,
  takesFirstHash,
  writesNothing,
  replaced,
  shown,
  textsBeside,
  valuesBeside,
} from './contract-kit';

const namesUsers = ({ users }: ContractKit): boolean => users.identifierOf !== UserProvider.prototype.identifierOf;
const hasEmails = (kit: ContractKit): boolean => kit.username === 'email';

/** Other spellings of an identifier, and other identifiers that a lax comparison takes for it. */
function spellingsOf(identifier: string): string[] {
  const swaps = [
    [/k/, '\u212a'], // Kelvin sign: its lower case is k.
    [/i/, 'ı'],
    [/i/, 'İ'],
    [/ss/, 'ß'],
    [/s/, 'ſ'], // Long s: its upper case is S.
    [/a/, 'а'], // Cyrillic.
    [/a/, 'ａ'],
    [/a/, 'á'],
    [/^./, '_'], // Wildcards of LIKE, which are also in some case-insensitive comparisons.
    [/^./, '%'],
    [/_/, 'x'],
    [/$/, '\u200b'],
    [/@.*$/, ''],
  ] as const;
  const others = swaps.map(([from, to]) => identifier.replace(from, to));
  const cases = [identifier.toUpperCase(), identifier[0]!.toUpperCase() + identifier.slice(1)];
  return [...new Set([...cases, ...others])].filter((text) => text !== identifier && text.trim() !== '');
}

/** The form that {@link UserProvider.comparedForm} documents. */
const formOf = ({ users, username }: ContractKit, identifier: string): string =>
  users.comparedForm(identifier) ?? (username === 'email' ? identifier.trim().toLowerCase() : identifier);

const lookUps: Check[] = [
  always('findById returns the user with the id', async ({ users, add }) => {
    for (const { id } of [await add(), await add()]) {
      assert.equal(typeof id, 'string');
      const found = await users.findById(id);
      assert.ok(found, `findById(${shown(id)}) returned ${shown(found)} for an existing user`);
      assert.equal(users.idOf(found), id, 'idOf must return the id with which findById finds the user');
    }
  }),
  always('findById returns no user for any other text or value', async (kit) => {
    const { id } = await kit.add();
    await findsNothing('findById', kit, textsBeside(id), valuesBeside(id));
  }),
  always('findById returns a new object for each call', async ({ users, add }) => {
    const { id } = await add();
    const found = await Promise.all([users.findById(id), users.findById(id)]);
    found.push(await users.findById(id));
    const why = 'two requests got one object, so the abilities of one token would apply to the other';
    assert.equal(new Set(found).size, found.length, why);
  }),
  always('findByIdentifier returns the user with its password hash', async ({ users, add }) => {
    for (const { id, identifier, passwordHash } of [await add(), await add()]) {
      const found = await users.findByIdentifier(identifier);
      assert.ok(found, `findByIdentifier(${shown(identifier)}) returned ${shown(found)} for an existing user`);
      assert.equal(users.idOf(found.user), id);
      assert.equal(found.passwordHash, passwordHash);
    }
  }),
  always('findByIdentifier finds a user exactly by the spellings that have one comparedForm', async (kit) => {
    const { id, identifier } = await kit.add();
    const trimmed = hasEmails(kit) ? [` ${identifier} `, `\t${identifier}\n`, `\u00a0${identifier}`] : [];
    for (const spelling of [...spellingsOf(identifier), ...trimmed]) {
      const found = await answer(`findByIdentifier(${shown(spelling)})`, () => kit.users.findByIdentifier(spelling));
      const isFound = found !== null && kit.users.idOf(found.user) === id;
      const isSame = formOf(kit, spelling) === formOf(kit, identifier);
      const expected = isSame ? 'have the same comparedForm' : 'differ in their comparedForm';
      const did = isFound ? 'finds' : 'does not find';
      assert.equal(isFound, isSame, `${shown(spelling)} and ${shown(identifier)} ${expected}, but it ${did} the user`);
    }
  }),
  always('findByIdentifier returns null for an unknown identifier or another value', async (kit) => {
    const { identifier } = await kit.add();
    const texts = textsBeside(identifier).filter((text) => formOf(kit, text) !== formOf(kit, identifier));
    const unknown = [...texts, kit.identifier(), `x${identifier}`, `${identifier}x`];
    await findsNothing('findByIdentifier', kit, unknown, valuesBeside(identifier));
  }),
  when(namesUsers, 'identifierOf returns an identifier that finds the user', async ({ users, add }) => {
    const { id } = await add();
    const identifier = users.identifierOf((await users.findById(id))!);
    assert.equal(typeof identifier, 'string');
    const found = await users.findByIdentifier(identifier!);
    assert.equal(found && users.idOf(found.user), id);
  }),
  when(
    (kit) => hasEmails(kit) && namesUsers(kit),
    'findByEmail returns the user with the address of emailOf, and no other',
    async (kit) => {
      const { users, add } = kit;
      const { id, identifier } = await add();
      assert.equal(users.emailOf((await users.findById(id))!), identifier);
      for (const spelling of [identifier, identifier.toUpperCase()]) {
        const found = await users.findByEmail(spelling);
        assert.equal(found && users.idOf(found), id, `findByEmail(${shown(spelling)}) does not find the user`);
      }
      const others = ['', '%', '\0', '\ud800', kit.identifier(), `x${identifier}`, `_${identifier.slice(1)}`];
      await findsNothing('findByEmail', kit, others, valuesBeside(identifier));
    },
  ),
  when(
    (kit) => hasEmails(kit) && kit.users.offers('findByEmails'),
    'findByEmails returns the users with one of the emails, each with its password hash, and no other',
    async ({ users, add, identifier }) => {
      const [ada, bob] = [await add(), await add(), await add()];
      const find = (emails: string[]) => answer(`findByEmails(${shown(emails)})`, () => users.findByEmails(emails));
      const found = await find([ada.identifier, identifier(), '\0', bob.identifier]);
      const byId = (a: unknown[], b: unknown[]): number => (String(a[0]) < String(b[0]) ? -1 : 1);
      assert.deepEqual(
        found.map(({ user, passwordHash }) => [users.idOf(user), users.emailOf(user), passwordHash]).toSorted(byId),
        [ada, bob].map((one) => [one.id, one.identifier, one.passwordHash]).toSorted(byId),
        'findByEmails must return each user with one of the emails, whose emailOf is the stored one, and no other',
      );
      const others = ['', '%', '\0', '\ud800', identifier(), `x${ada.identifier}`, `_${ada.identifier.slice(1)}`];
      for (const emails of [[], others])
        assert.deepEqual(await find(emails), [], `findByEmails(${shown(emails)}) must return an empty list`);
    },
  ),
  always(
    'findById, findByIdentifier and findByEmail return users with the same id, email and verification',
    async (kit) => {
      for (const user of [await kit.add(), await kit.add()]) await agreed(kit, user);
    },
  ),
  always('users contain no password hash and no second factor in JSON', async ({ users, add, noFactor, newFactor }) => {
    const { id, identifier, passwordHash } = await add();
    const factor = newFactor();
    if (users.offers('secondFactorOf')) await users.replaceSecondFactor(id, noFactor, factor);
    const found = [await users.findById(id), (await users.findByIdentifier(identifier))?.user];
    const json = JSON.stringify(found);
    for (const secret of [passwordHash!, ...Object.values(factor).filter((value) => typeof value === 'string')]) {
      const isShown = json.includes(JSON.stringify(secret).slice(1, -1));
      assert.ok(!isShown, `a user has ${shown(secret)} in its JSON, so a route that returns the user shows it`);
    }
  }),
];

const passwords: Check[] = [
  always('passwordHashOf returns the hash of the user, and null for any other text or value', async (kit) => {
    const ada = await kit.add();
    await keepsHash(kit, ada, 'storing it');
    await findsNothing('passwordHashOf', kit, textsBeside(ada.id), valuesBeside(ada.id));
  }),
  always('savePasswordHash stores a hash that every later read returns', async (kit) => {
    const [ada, bob, hash] = [await kit.add(), await kit.add(), newHash()];
    // A cache has the former hash after these reads.
    await kit.users.findByIdentifier(ada.identifier);
    await kit.users.passwordHashOf(ada.id);
    const isStored = await kit.another.savePasswordHash(ada.id, hash);
    assert.notEqual(isStored, false, replaced(isStored));
    assert.equal(await kit.users.passwordHashOf(ada.id), hash);
    assert.equal((await kit.users.findByIdentifier(ada.identifier))?.passwordHash, hash);
    await keepsHash(kit, bob, 'savePasswordHash for another user');
  }),
  always('savePasswordHash stores nothing if another hash than `replacing` is stored', async (kit) => {
    const ada = await kit.add();
    for (const outdated of [newHash(), null, '']) {
      const isStored = await kit.users.savePasswordHash(ada.id, newHash(), outdated);
      assert.notEqual(isStored, true, `${replaced(isStored)} although ${shown(outdated)} is not stored`);
      await keepsHash(kit, ada, `savePasswordHash with replacing = ${shown(outdated)}`);
    }
    const hash = newHash();
    const isStored = await kit.users.savePasswordHash(ada.id, hash, ada.passwordHash);
    assert.notEqual(isStored, false, `${replaced(isStored)} although \`replacing\` is stored`);
    assert.equal(await kit.users.passwordHashOf(ada.id), hash);
  }),
  always('savePasswordHash lets one of concurrent calls with the same `replacing` succeed', async (kit) => {
    const { users, add } = kit;
    await oneWinner(kit, async () => {
      const { id, passwordHash } = await add();
      const call = async () => {
        const hash = newHash();
        const isStored = await users.savePasswordHash(id, hash, passwordHash);
        return isStored ?? (await users.passwordHashOf(id)) === hash;
      };
      return { id, call };
    });
  }),
  always('savePasswordHash changes nothing for an id that no user has', async (kit) => {
    await namesNoUser(kit);
    const ada = await kit.add();
    const save = (id: string) => kit.users.savePasswordHash(id, newHash());
    await writesNothing('savePasswordHash', save, (why) => keepsHash(kit, ada, why));
  }),
  {
    requires: 'insert',
    needs: ({ usersWithoutPassword }) => usersWithoutPassword,
    name: 'a user without a password has the hash null, and `replacing` = null stores its first one',
    check: async (kit) => {
      const ada = await kit.add(null);
      await takesFirstHash(kit, ada);
      const first = await kit.users.passwordHashOf(ada.id);
      const again = await kit.users.savePasswordHash(ada.id, newHash(), null);
      assert.notEqual(again, true, 'the first password was replaced');
      assert.equal(await kit.users.passwordHashOf(ada.id), first, 'the first password was replaced');
    },
  },
];

/** The checks of what every provider has, in the order of the port. */
export const CREDENTIAL_CHECKS: readonly Check[] = [...lookUps, ...passwords];
