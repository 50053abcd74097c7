import { UserProvider } from '@svc/auth';
import { AfterLoad, DeleteQueryBuilder, Entity, SelectQueryBuilder, UpdateQueryBuilder } from 'typeorm';
import { forge } from '../support/clients/forge';
import { member, membersForFile } from '../support/hosts/members';
import { ADA, Member, PASSWORD } from '../support/hosts/user-entities';

/** TypeORM itself reads an entity with a listener, instead of a statement of the library. */
@Entity('members')
class Greeted extends Member {
  @AfterLoad()
  greet(): void {}
}

const CLIENT = { ip: '203.0.113.7' };
const NEXT = 'another horse entirely';
const chosen = { password: NEXT, password_confirmation: NEXT };

/** Values that a body can contain in the place of a text, and undefined for an absent field. */
const VALUES = [undefined, null, 0, true, [], {}, [null], [ADA], { email: ADA }, ''];

/** The conditions on nothing: TypeORM ignores them here, as TypeORM 0.3 does by default. */
const withoutValue = (where: unknown): unknown[] =>
  [where].flat().flatMap((one) => {
    const conditions = typeof one === 'object' && one !== null ? Object.entries(one) : [];
    return conditions.filter(([, value]) => value === undefined || value === null);
  });

interface Conditional {
  where(this: unknown, ...args: unknown[]): unknown;
}

// There is one user. A look-up without a condition would find it.
describe('where TypeORM ignores conditions on undefined and null, a missing value', () => {
  const { t, mailbox } = membersForFile({ users: { entity: Greeted } }, { entities: [Greeted] });
  let id: string;
  let ignored: unknown[];
  let statements: number;

  beforeAll(() => {
    t.database.setOptions({ invalidWhereValuesBehavior: { undefined: 'ignore', null: 'ignore' } });
  });
  beforeEach(async () => {
    id = await member(t, ADA);
    ignored = [];
    statements = 0;
    const record = (where: unknown): void => {
      statements++;
      ignored.push(...withoutValue(where));
    };
    const find = SelectQueryBuilder.prototype.setFindOptions;
    jest.spyOn(SelectQueryBuilder.prototype, 'setFindOptions').mockImplementation(function (this: never, options) {
      record(options.where);
      return find.call(this, options) as never;
    });
    for (const { prototype } of [UpdateQueryBuilder, DeleteQueryBuilder] as unknown as { prototype: Conditional }[]) {
      const { where } = prototype;
      jest.spyOn(prototype, 'where').mockImplementation(function (this: unknown, ...args) {
        record(args[0]);
        return where.apply(this, args);
      });
    }
  });
  afterEach(() => expect(ignored).toEqual([]));

  it('would match the first row', async () => {
    const found = await t.database.getRepository(Greeted).findOneBy({ email: undefined });
    expect([found?.id, statements]).toEqual([id, 1]);
    ignored = [];
  });

  it('signs no user in', async () => {
    for (const email of VALUES) {
      const { status, body } = await t.http.post('/auth/login').send({ email, password: PASSWORD });
      expect([email, status, body.access_token]).toEqual([email, 422, undefined]);
      const call = t.auth.login.attempt({ identifier: email as never, password: PASSWORD }, CLIENT);
      await expect(call).rejects.toMatchObject({ message: expect.any(String) });
    }
    await t.login(ADA).expect(200);
  });

  it('resets no password', async () => {
    for (const email of VALUES) {
      const forgot = await t.http.post('/auth/forgot-password').send({ email });
      expect([email, forgot.status]).toEqual([email, 422]);
      const reset = await t.http.post('/auth/reset-password').send({ email, token: 'x'.repeat(43), ...chosen });
      expect([email, reset.status]).toEqual([email, 422]);
      await expect(t.auth.passwordReset.request(email as never, CLIENT)).rejects.toBeInstanceOf(Error);
    }
    expect(mailbox.mails).toEqual([]);
  });

  it('registers no user', async () => {
    for (const email of VALUES) {
      const { status } = await t.http.post('/auth/register').send({ name: 'Bob', email, ...chosen });
      expect([email, status]).toEqual([email, 422]);
    }
    expect(await t.database.getRepository(Member).count()).toBe(1);
  });

  it('is the subject of no token, and starts no session', async () => {
    await t.get('/private', forge({ claims: { sub: id }, without: ['fid'] })).expect(200);
    for (const sub of VALUES)
      await t.get('/private', forge({ claims: { sub } as never, without: ['fid'] })).expect(401);
    await t.get('/private', forge({ without: ['sub', 'fid'] })).expect(401);
    for (const value of VALUES) await expect(t.auth.startSession(value as never)).rejects.toThrow();
  });

  it('finds, changes and deletes no user in a direct call of the provider', async () => {
    const users = t.app.get<Required<UserProvider>>(UserProvider as never);
    const rows = () => t.database.query('SELECT * FROM members');
    const before = await rows();
    for (const value of VALUES as never[]) {
      const found = [
        await users.findById(value),
        await users.findByIdentifier(value),
        await users.findByEmail(value),
        await users.passwordHashOf(value),
        await users.secondFactorOf(value),
      ];
      expect([value, ...found]).toEqual([value, null, null, null, null, null]);
    }
    const factor = { secret: null, recoveryCodes: null, confirmedAt: null };
    for (const value of VALUES.filter((other) => other !== '') as never[]) {
      const changed = [
        await users.savePasswordHash(value, 'stolen'),
        await users.replaceSecondFactor(value, factor, { ...factor, secret: 'stolen' }),
        await users.markEmailVerified(value, ADA, new Date()),
        await users.markEmailVerified(id, value, new Date()),
        await t.database.transaction((manager) => users.delete(value, manager)),
      ];
      expect([value, ...changed]).toEqual([value, false, false, false, false, false]);
    }
    expect(await rows()).toEqual(before);
    expect(await users.findById(id)).toMatchObject({ id, email: ADA });
  });
});
