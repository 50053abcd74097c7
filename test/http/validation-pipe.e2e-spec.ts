import { Body, Controller, Get, Param, Post, Query, UsePipes } from '@nestjs/common';
import { ForceJson, ValidationFailed, ValidationPipe } from '@svc/auth';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsDefined,
  IsEmail,
  IsInt,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { onFastify } from '../support/hosts/adapter';
import { TestApp } from '../support/hosts/app';

class Phone {
  @IsString()
  @MaxLength(9)
  number!: string;

  @IsOptional()
  @IsString({ message: 'Home or work?' })
  kind?: string;
}

class Address {
  @IsNotEmpty()
  city!: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => Phone)
  phone?: Phone;
}

class Profile {
  @IsEmail()
  email!: string;

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
  @IsString({ each: true })
  nick_names?: string[];

  @IsOptional()
  @IsObject()
  meta?: object;
}

class Page {
  @Type(() => Number)
  @IsInt()
  @Min(1, { message: 'Pages begin at 1.' })
  page!: number;
}

@Controller('profile')
@UsePipes(new ValidationPipe({ whitelist: true, transform: true }))
class Profiles {
  @Post()
  save(@Body() profile: Profile) {
    return { profile, isProfile: profile instanceof Profile, isPhone: profile.phones[0] instanceof Phone };
  }

  @Post('translated')
  @ForceJson()
  translated(@Body() profile: Profile) {
    return { profile };
  }

  @Get(':id')
  @ForceJson()
  list(@Param('id') id: string, @Query() page: Page) {
    return { id, page };
  }

  @Post('refused')
  @ForceJson()
  refused() {
    throw new ValidationFailed({
      'items.0.coupon': ['This coupon has expired.', { key: 'validation.invalid' }],
      grüße: [{ code: 'greeting.rude', text: 'Be polite.' }],
    });
  }
}

const VALID = { email: 'ada@example.com', address: { city: 'London' }, phones: [{ number: '1' }] };

describe('the exported ValidationPipe', () => {
  const t = TestApp.forFile({
    controllers: [Profiles],
    options: { messages: { 'validation.required': 'Bitte ausfüllen: {field}' } },
  });
  const post = (body: object | string, path = '') => t.http.post(`/profile${path}`).type('json').send(body);

  it('passes a valid body as an instance of the DTO, with its nested classes', async () => {
    const { body } = await post({ ...VALID, role: 'admin' }).expect(201);
    expect(body).toEqual({ profile: VALID, isProfile: true, isPhone: true });
  });

  it.each<[string, object, Record<string, string[]>]>([
    [
      'missing fields',
      {},
      {
        email: ['The email field must be an email address.'],
        address: ['The address field is required.'],
        phones: ['The phones field must be a list.'],
      },
    ],
    [
      'fields of an object, at any level',
      { ...VALID, address: { city: '', phone: {} } },
      {
        'address.city': ['The address.city field is required.'],
        'address.phone.number': ['The address.phone.number field must be a string.'],
      },
    ],
    [
      'fields of the items of a list, and texts of the host unchanged',
      { ...VALID, phones: [{ number: '1' }, { number: 'x'.repeat(10), kind: 7 }] },
      {
        'phones.1.number': ['The phones.1.number field must not be longer than 9 characters.'],
        'phones.1.kind': ['Home or work?'],
      },
    ],
    [
      'values of another type',
      { ...VALID, address: 'London', phones: ['1'], meta: 'x', nick_names: [7] },
      {
        address: ['The address field must be an object.'],
        'phones.0': ['The phones.0 field must be an object.'],
        nick_names: ['each value in nick_names must be a string'],
        meta: ['The meta field must be an object.'],
      },
    ],
    [
      'a list that is too long',
      { ...VALID, phones: [{}, {}, {}, {}].map(() => ({ number: '1' })) },
      { phones: ['The phones field must not have more than 3 items.'] },
    ],
  ])("answers %s in the format of the library's own routes", async (_, given, errors) => {
    const { body } = await post(given).expect(422);
    const [first, ...others] = Object.values(errors).flat();
    const count = others.length;
    const more = count ? ` (and ${count} more ${count > 1 ? 'errors' : 'error'})` : '';
    expect(body).toEqual({ message: first! + more, errors });
    const { headers } = await post(given, '/translated').expect(422);
    const codes = [...new URLSearchParams(headers['x-svc-error-codes'])].map(([field]) => field);
    expect(codes).toEqual(Object.entries(errors).flatMap(([field, own]) => own.map(() => field)));
    // The library's own route answers with the same keys.
    const own = await t.http.post('/auth/login').send({ email: [], password: 7 }).expect(422);
    expect(Object.keys(body)).toEqual(Object.keys(own.body));
  });

  it('validates queries too, and leaves plain parameters alone', async () => {
    const { body, headers } = await t.http.get('/profile/7?page=0').expect(422);
    // The rule of class-validator, whatever text the host has given it.
    expect(headers['x-svc-error-codes']).toBe('page=min');
    expect(body).toEqual({ message: 'Pages begin at 1.', errors: { page: ['Pages begin at 1.'] } });
    expect((await t.http.get('/profile/7?page=2').expect(200)).body).toEqual({ id: '7', page: { page: 2 } });
  });

  it("translates the library's texts on a route with @ForceJson()", async () => {
    const { body, headers } = await post({ ...VALID, address: { city: '' } }, '/translated').expect(422);
    expect(headers['x-svc-error-codes']).toBe('address.city=validation.required');
    expect(body.errors).toEqual({ 'address.city': ['Bitte ausfüllen: address.city'] });
  });

  it('lets the host throw ValidationFailed with its own texts', async () => {
    const { body, headers } = await post({}, '/refused').expect(422);
    expect(body).toEqual({
      message: 'This coupon has expired. (and 2 more errors)',
      errors: {
        'items.0.coupon': ['This coupon has expired.', 'The {field} field is invalid.'],
        grüße: ['Be polite.'],
      },
    });
    expect([...new URLSearchParams(headers['x-svc-error-codes'])]).toEqual([
      ['items.0.coupon', 'custom'],
      ['items.0.coupon', 'validation.invalid'],
      ['grüße', 'greeting.rude'],
    ]);
  });

  describe('with a body that class-transformer cannot convert', () => {
    const withMeta = (meta: string): string =>
      JSON.stringify({ ...VALID, meta: 0 }).replace('"meta":0', `"meta":${meta}`);
    const deep = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels);

    it.each([
      ['a key constructor', '{"constructor":{}}', 'meta'],
      ['a key constructor in a list', '[{"constructor":null}]', 'meta'],
      ['a key prototype', '{"a":{"prototype":{}}}', 'meta'],
      ['33 levels of lists', deep('[', ']', 33), 'meta'],
      ['40000 levels of lists', deep('[', ']', 40_000), 'meta'],
      ['10000 levels of objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 'meta'],
    ])('answers 422 for %s', async (_, meta, field) => {
      const { body } = await post(withMeta(meta)).expect(422);
      expect(body).toEqual({
        message: `The ${field} field is invalid.`,
        errors: { [field]: [`The ${field} field is invalid.`] },
      });
    });

    it.each(['__proto__', 'constructor'])('answers 422 for the key %s of the body', async (key) => {
      // Fastify refuses the first one as a whole.
      const { status, body } = await post(JSON.stringify(VALID).replace('{', `{"${key}":{"admin":true},`));
      if (status !== 400 || !onFastify) expect([status, Object.keys(body.errors)]).toEqual([422, [key]]);
    });

    it('answers 422 for half a surrogate pair in an address', async () => {
      const { body } = await post({ ...VALID, email: 'ada\ud800@example.com' }).expect(422);
      expect(Object.keys(body.errors)).toEqual(['email']);
    });

    it('accepts 31 levels', async () => {
      await post(withMeta(`{"a":${deep('[', ']', 30)}}`)).expect(201);
    });

    it.each(['[]', '[{}]', '"x"', '7', 'null', 'true', '{}'])('answers 422 for the body %s', async (text) => {
      const { status } = await post(text);
      // Body parsers refuse values that are neither objects nor lists.
      expect([400, 422]).toContain(status);
    });
  });

  it('lists at most 100 fields', async () => {
    class Many {
      @IsString({ each: true })
      @ValidateNested({ each: true })
      items!: unknown[];
    }
    const pipe = new ValidationPipe();
    const items = Array.from({ length: 1000 }, () => 7);
    const error = await pipe.transform({ items }, { type: 'body', metatype: Many }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ValidationFailed);
    expect(Object.keys((error as ValidationFailed).getResponse().errors!)).toHaveLength(100);
  });
});
