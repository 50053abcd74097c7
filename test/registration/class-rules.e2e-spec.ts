import { type AuthModuleOptions } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  Equals,
  IsArray,
  IsBoolean,
  IsDefined,
  IsEmail,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Length,
  MaxLength,
  Validate,
  ValidateNested,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { documentOf } from '../openapi/support/document-checker';
import { membersForFile, startMembers } from '../support/hosts/members';
import { ORIGIN, PASSKEYS } from '../support/flows/passkeys';
import { Member, PASSWORD } from '../support/hosts/user-entities';

class Geo {
  @IsInt()
  lat!: number;
}

class Address {
  @IsString()
  @MaxLength(20)
  street!: string;

  @IsNotEmpty({ message: 'Which city?' })
  city!: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => Geo)
  geo?: Geo;
}

class Phone {
  @IsString()
  number!: string;

  @IsOptional()
  @IsString()
  kind?: string;
}

@ValidatorConstraint({ async: true })
class IsFree implements ValidatorConstraintInterface {
  validate = async (value: unknown): Promise<boolean> => value !== 'root';
  defaultMessage = (): string => 'This nickname is taken.';
}

class Applicant {
  @IsEmail()
  email!: string;

  @IsString()
  password!: string;

  @IsDefined()
  @ValidateNested()
  @Type(() => Address)
  address!: Address;

  @IsArray()
  @ArrayMaxSize(3)
  @ValidateNested({ each: true })
  @Type(() => Phone)
  phones!: Phone[];

  @IsOptional()
  @Validate(IsFree)
  nickname?: string;

  @Transform(({ value }) => value === 'yes' || value === true)
  @Equals(true, { message: 'Accept the terms.' })
  terms!: boolean;

  /** Has no decorator of class-validator, so no request sets it. */
  role = 'customer';
}

const ACCOUNT = { email: 'ada@example.com', password: PASSWORD, password_confirmation: PASSWORD };
const ADDRESS = { street: 'St James Square', city: 'London' };
const FORM = { ...ACCOUNT, address: ADDRESS, phones: [{ number: '1' }], terms: 'yes' };

describe('registration.rules', () => {
  let registered: Applicant[] = [];
  const { t } = membersForFile({
    registration: { rules: Applicant },
    features: { passkeys: true, passkeyRegistration: true },
    passkeys: PASSKEYS.passkeys,
    hooks: {
      register: async (fields) => {
        registered.push(fields as unknown as Applicant);
        return t.database.getRepository(Member).save({ name: 'x', email: String(fields.email) });
      },
    },
  });
  beforeEach(() => (registered = []));
  const register = (body: object) => t.http.post('/auth/register').send(body);

  it('passes an instance of the class to hooks.register: trimmed, converted, without what the class does not declare', async () => {
    await register({
      ...FORM,
      email: ' Ada@Example.com ',
      address: { street: ' St James Square ', city: 'London', geo: { lat: 51, y: 1 }, role: 'admin' },
      phones: [{ number: ' 1 ', kind: '', verified: true }],
      nickname: ' ',
      role: 'admin',
      isAdmin: true,
    }).expect(200);
    const [fields] = registered;
    expect(fields).toBeInstanceOf(Applicant);
    expect([fields!.address, fields!.phones[0]].map((part) => part!.constructor)).toEqual([Address, Phone]);
    expect(JSON.parse(JSON.stringify(fields))).toEqual({
      email: 'ada@example.com',
      password: PASSWORD,
      address: { ...ADDRESS, geo: { lat: 51 } },
      phones: [{ number: '1' }],
      terms: true,
    });
  });

  it.each<[string, object, Record<string, string>]>([
    [
      'missing fields',
      { email: ' ', password: null, address: undefined, phones: undefined, terms: 'no' },
      {
        email: 'The email field is required.',
        password: 'The password field is required.',
        address: 'The address field is required.',
        phones: 'The phones field is required.',
        terms: 'Accept the terms.',
      },
    ],
    ['an address without a domain', { email: 'ada' }, { email: 'The email field must be an email address.' }],
    ['an email that is no text', { email: ['ada@example.com'] }, { email: 'The email field must be a string.' }],
    [
      'fields of an object, with the texts of the host',
      { address: { street: 'x'.repeat(21), city: '' } },
      {
        'address.street': 'The address.street field must not be longer than 20 characters.',
        'address.city': 'Which city?',
      },
    ],
    ['a text as an object', { address: 'London' }, { address: 'The address field must be an object.' }],
    [
      'a field two levels down',
      { address: { ...ADDRESS, geo: { lat: '51' } } },
      { 'address.geo.lat': 'lat must be an integer number' },
    ],
    [
      'fields of items',
      { phones: [{ number: '' }, { number: '1' }, { number: ['1'] }] },
      {
        'phones.0.number': 'The phones.0.number field is required.',
        'phones.2.number': 'The phones.2.number field must be a string.',
      },
    ],
    [
      'a list that is too long',
      { phones: Array.from({ length: 4 }, () => ({ number: '1' })) },
      { phones: 'The phones field must not have more than 3 items.' },
    ],
    ['a value that a validator of the host refuses', { nickname: 'root' }, { nickname: 'This nickname is taken.' }],
    [
      'texts that PostgreSQL cannot store',
      { nickname: 'a\0', address: { ...ADDRESS, street: '\0' } },
      { nickname: 'The nickname field is invalid.', 'address.street': 'The address.street field is invalid.' },
    ],
    [
      'an identifier that is too long for a login',
      { email: `${'x'.repeat(250)}@a.test` },
      { email: 'The email field must not be longer than 255 characters.' },
    ],
    [
      'a key that class-transformer takes for a member of a class',
      { address: { ...ADDRESS, constructor: {} } },
      { address: 'The address field is invalid.' },
    ],
  ])('answers %s by the path of the field', async (_, more, errors) => {
    const { body } = await register({ ...FORM, ...more }).expect(422);
    expect(body.errors).toEqual(Object.fromEntries(Object.entries(errors).map(([field, text]) => [field, [text]])));
    expect(body.message).toContain(Object.values(body.errors as Record<string, string[]>)[0]![0]);
    expect(registered).toEqual([]);
  });

  it('does not replace the rules of the library: the confirmation, the password rules, and one account for an email', async () => {
    const confirmed = await register({ ...FORM, password_confirmation: 'another' }).expect(422);
    expect(Object.keys(confirmed.body.errors)).toEqual(['password']);
    const common = { password: 'password123', password_confirmation: 'password123' };
    expect(Object.keys((await register({ ...FORM, ...common }).expect(422)).body.errors)).toEqual(['password']);
    await register(FORM).expect(200);
    const taken = await register({ ...FORM, email: 'ADA@example.com' }).expect(422);
    expect(taken.body.errors).toEqual({ email: ['This email is taken.'] });
  });

  it('ignores what it does not declare, whatever it contains and however deep it is', async () => {
    const deep = `${'{"a":'.repeat(4000)}null${'}'.repeat(4000)}`;
    const text = JSON.stringify(FORM).replace('{', `{"other":${deep},"toString":"x",`);
    await t.http.post('/auth/register').type('json').send(text).expect(200);
    const declared = JSON.stringify({ ...FORM, email: 'eve@example.com' }).replace('"London"', deep);
    await t.http.post('/auth/register').type('json').send(declared).expect(422);
  });

  it('applies without the password to a registration with a passkey', async () => {
    const { password: _, password_confirmation: __, ...fields } = FORM;
    const options = (body: object) => t.http.post('/auth/register/passkey/options').send(body);
    const { body } = await options(fields).expect(200);
    const credential = new SoftAuthenticator(ORIGIN).create(body.options);
    const finish = (more: object) =>
      t.http.post('/auth/register/passkey').send({ ...fields, ...more, ceremony_id: body.ceremony_id, credential });
    const { body: refused } = await finish({ address: {} }).expect(422);
    expect(Object.keys(refused.errors)).toEqual(['address.street', 'address.city']);
    await finish({}).expect(200);
    expect(registered).toMatchObject([{ email: 'ada@example.com', address: ADDRESS }]);
  });

  it('is described in the OpenAPI document', () => {
    const { paths } = documentOf(t.app);
    const { content } = paths['/auth/register']!.post!.requestBody as { content: Record<string, { schema: object }> };
    expect(content['application/json']!.schema).toEqual({
      type: 'object',
      required: ['email', 'password', 'address', 'phones', 'terms', 'password_confirmation'],
      properties: {
        email: { type: 'string', format: 'email' },
        password: { type: 'string', minLength: 8 },
        password_confirmation: { type: 'string', minLength: 8 },
        address: {
          type: 'object',
          required: ['street', 'city'],
          properties: {
            street: { type: 'string', maxLength: 20 },
            city: { type: 'string' },
            geo: { type: 'object', required: ['lat'], properties: { lat: { type: 'number' } } },
          },
        },
        phones: { type: 'array', maxItems: 3, items: { type: 'object', properties: {} } },
        nickname: { type: 'string' },
        terms: { type: 'boolean' },
      },
    });
  });
});

class Minimal {
  @IsString()
  @Length(2, 50)
  name!: string;

  @IsEmail()
  email!: string;

  @IsString()
  password!: string;
}

describe('registration.rules without hooks.register', () => {
  const { t } = membersForFile({ registration: { rules: Minimal } });

  it('stores the name, the identifier and the password, and signs in', async () => {
    const fields = { ...ACCOUNT, email: 'Ada@Example.com', name: ' Ada ' };
    await t.http.post('/auth/register').send(fields).expect(200);
    expect(await t.database.query('SELECT name, email FROM members')).toEqual([
      { name: 'Ada', email: 'ada@example.com' },
    ]);
    await t.login(ACCOUNT.email, PASSWORD).expect(200);
    const { body } = await t.http.post('/auth/register').send({ ...fields, name: 'x'.repeat(300) });
    expect(body.errors).toEqual({ name: ['The name field must not be longer than 255 characters.'] });
  });
});

describe('registration.rules that would protect nothing', () => {
  class Undecorated {
    email!: string;
  }
  class Optional extends Minimal {
    @IsOptional()
    override password!: string;
  }
  class WithoutName {
    @IsEmail()
    email!: string;

    @IsBoolean()
    password!: string;
  }
  const hooks = { registerRules: () => ({}) };

  it.each<[string, Partial<AuthModuleOptions>, string]>([
    ['no class', { registration: { rules: {} as never } }, 'registration.rules must be a class'],
    ['a class without decorators', { registration: { rules: Undecorated } }, 'the class Undecorated has no decorator'],
    ['an optional password', { registration: { rules: Optional } }, 'makes password optional'],
    ['no name', { registration: { rules: WithoutName } }, 'registration.rules has no field name'],
    ['other rules beside it', { registration: { rules: Minimal }, hooks }, 'cannot be combined with'],
  ])('refuse the start: %s', async (_, options, message) => {
    await expect(startMembers(options)).rejects.toThrow(message);
  });
});
