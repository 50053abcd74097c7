import { Expose, instanceToPlain, plainToInstance } from 'class-transformer';
import { withTwoFactorColumns } from '../../features/two-factor/two-factor-columns';
import { withAuthColumns } from './columns';

const SECRETS = {
  passwordHash: '$argon2id$hash',
  twoFactorSecret: 'secret',
  twoFactorRecoveryCodes: '["$argon2id$code"]',
};
const FIELDS = { id: 7, email: 'ada@example.com', twoFactorConfirmedAt: '2026-01-01' };

class Account {
  id!: number;
}

class User extends withTwoFactorColumns(withAuthColumns(Account)) {}

class Reversed extends withAuthColumns(withTwoFactorColumns(Account)) {}

class WithoutBase extends withAuthColumns() {
  id!: number;
}

class Named extends withTwoFactorColumns(withAuthColumns(Account)) {
  override toJSON(): object {
    return { ...super.toJSON(), name: 'Ada' };
  }
}

class Decorated {
  id!: number;
  toJSON(): object {
    const { id, ...others } = this;
    return { ...others, id: `user-${id}` };
  }
}
class OfDecorated extends withTwoFactorColumns(withAuthColumns(Decorated)) {}

class WithGetter extends withTwoFactorColumns(withAuthColumns(Account)) {
  @Expose()
  get initial(): string {
    return this.email[0]!;
  }
}

const saved = <T extends object>(type: new () => T): T => Object.assign(new type(), FIELDS, SECRETS);
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a user with its secrets in memory', () => {
  it.each([
    ['of both mixins', User, FIELDS],
    ['of both mixins in the other order', Reversed, FIELDS],
    ['with a toJSON that calls the one of the mixins', Named, { ...FIELDS, name: 'Ada' }],
    ['of a base class with a toJSON', OfDecorated, { ...FIELDS, id: 'user-7' }],
  ])('%s shows the other fields in JSON', (_, type, shown) => {
    const user = saved(type as new () => object);
    expect(json(user)).toEqual(shown);
    expect(json({ data: [{ owner: user }] })).toEqual({ data: [{ owner: shown }] });
    // The entity itself is not changed: TypeORM saves its fields.
    expect(user).toMatchObject(SECRETS);
  });

  it('without the second factor shows no hash', () => {
    const user = Object.assign(new WithoutBase(), { id: 7, email: 'ada@example.com', passwordHash: 'hash' });
    expect(json(user)).toEqual({ id: 7, email: 'ada@example.com' });
    expect(instanceToPlain(user)).toEqual({ id: 7, email: 'ada@example.com' });
  });

  it.each([
    ['of both mixins', User, FIELDS],
    ['of both mixins in the other order', Reversed, FIELDS],
    ['with an exposed getter', WithGetter, { ...FIELDS, initial: 'a' }],
  ])('%s shows the other fields to class-transformer', (_, type, shown) => {
    const user = saved(type as new () => object);
    expect(instanceToPlain(user)).toEqual(shown);
    expect(instanceToPlain({ data: [{ owner: user }] })).toEqual({ data: [{ owner: shown }] });
  });

  it('is not made from an object of a client', () => {
    expect({ ...plainToInstance(User, { ...FIELDS, ...SECRETS }) }).toEqual(FIELDS);
  });
});
