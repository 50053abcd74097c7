import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { ReplacementResult, Replacing } from '../../foundation/ports/user-provider';
import {
  type Check,
  type ContractKit,
  NO_IDS,
  agreed,
  when,
  answer,
  keepsHash,
  lenient,
  oneWinner,
  shown,
} from './contract-kit';

/** One of the two values of a user that the library replaces. */
interface Replaced {
  readonly method: 'changeEmail' | 'changeIdentifier';
  readonly fresh: () => string;
  readonly of: (user: object) => string | null;
  readonly replace: (id: string, change: Replacing) => Promise<ReplacementResult>;
}

/** Those that the provider replaces. */
function replacedBy(kit: ContractKit): Replaced[] {
  const { users, another, identifier, changeEmail } = kit;
  const email = (): string => `k_ass.e${randomBytes(8).toString('hex')}@example.com`;
  const all: [boolean, Replaced][] = [
    [
      users.offers('changeEmail'),
      { method: 'changeEmail', fresh: email, of: (user) => users.emailOf(user), replace: changeEmail },
    ],
    [
      users.offers('changeIdentifier'),
      {
        method: 'changeIdentifier',
        fresh: identifier,
        of: (user) => users.identifierOf(user),
        replace: (id, change) => another.changeIdentifier(id, change),
      },
    ],
  ];
  return all.filter(([is]) => is).map(([, replaced]) => replaced);
}

const replaces = (kit: ContractKit): boolean => replacedBy(kit).length > 0;

/** Runs a check for each value that the provider replaces. */
const forEach =
  (check: (kit: ContractKit, replaced: Replaced) => Promise<void>): Check['check'] =>
  async (kit) => {
    for (const replaced of replacedBy(kit)) await check(kit, replaced);
  };

const readOf = async ({ users }: ContractKit, { of }: Replaced, id: string): Promise<string | null> =>
  of((await users.findById(id))!);

/** The checks of the replacement of an email and of an identifier. */
export const REPLACEMENT_CHECKS: readonly Check[] = [
  when(
    replaces,
    'changeEmail and changeIdentifier replace the former value, and only that of the user',
    forEach(async (kit, replaced) => {
      const { method, fresh, of, replace } = replaced;
      const [ada, bob] = [await kit.add(), await kit.add()];
      const [from, ofBob] = [await readOf(kit, replaced, ada.id), await readOf(kit, replaced, bob.id)];
      const to = fresh();
      // A cache has this answer afterwards.
      assert.equal(await kit.users.findByEmail(to), null);
      assert.equal(await replace(ada.id, { from, to }), 'changed', `${method} of the present value`);
      const user = await kit.users.findById(ada.id);
      assert.ok(user, `findById does not find the user after ${method}`);
      assert.equal(of(user), to, `${method} has not stored the new value, or a later read does not return it`);
      const identifier = kit.users.identifierOf(user) ?? ada.identifier;
      const { isEmailVerified } = await agreed(kit, { id: ada.id, identifier });
      if (method === 'changeEmail' && kit.users.offers('markEmailVerified'))
        assert.equal(isEmailVerified, true, 'changeEmail has not marked the new email as verified');
      await keepsHash(kit, ada, method);
      assert.equal(await readOf(kit, replaced, bob.id), ofBob, `${method} changed another user`);
    }),
  ),
  when(
    replaces,
    'changeEmail and changeIdentifier change nothing for a value that is taken, and for another former value',
    forEach(async (kit, replaced) => {
      const { method, fresh, replace } = replaced;
      const [ada, bob] = [await kit.add(), await kit.add()];
      const [from, ofBob] = [await readOf(kit, replaced, ada.id), await readOf(kit, replaced, bob.id)];
      if (ofBob !== null) {
        const taken = await answer(`${method} with a taken value`, () => replace(ada.id, { from, to: ofBob }));
        assert.equal(taken, 'taken', `${method} returned ${shown(taken)} for the value of another user`);
      }
      for (const other of [fresh(), '', undefined, { not: '' }]) {
        const result = await lenient(() => replace(ada.id, { from: other as string, to: fresh() }));
        assert.notEqual(result, 'changed', `${method} accepted the former value ${shown(other)}`);
      }
      for (const id of NO_IDS) {
        const result = await lenient(() => replace(id as string, { from, to: fresh() }));
        assert.notEqual(result, 'changed', `${method} returned changed for the id ${shown(id)}`);
      }
      assert.equal(await readOf(kit, replaced, ada.id), from, `${method} has changed the user all the same`);
      assert.equal(await readOf(kit, replaced, bob.id), ofBob, `${method} has changed another user`);
    }),
  ),
  when(
    replaces,
    'changeEmail and changeIdentifier let one of concurrent calls with one former value succeed',
    forEach(async (kit, replaced) => {
      await oneWinner(kit, async () => {
        const { id } = await kit.add();
        const from = await readOf(kit, replaced, id);
        return { id, call: async () => (await replaced.replace(id, { from, to: replaced.fresh() })) === 'changed' };
      });
    }),
  ),
  when(
    ({ users, deletesInTransaction }) => users.offers('changeEmail') && deletesInTransaction,
    'changeEmail is undone if its transaction is rolled back',
    async (kit) => {
      const { id } = await kit.add();
      const from = kit.users.emailOf((await kit.users.findById(id))!);
      const to = `k_ass.e${randomBytes(8).toString('hex')}@example.com`;
      await kit.changeEmail(id, { from, to }, true);
      const email = kit.users.emailOf((await kit.users.findById(id))!);
      assert.equal(email, from, 'changeEmail does not use the transaction of the manager that it is given');
    },
  ),
];
