import type { RegistrationRules } from '@svc/auth';
import { documentOf } from '../openapi/support/document-checker';
import { onFastify } from '../support/hosts/adapter';
import { membersForFile } from '../support/hosts/members';
import { Member, PASSWORD } from '../support/hosts/user-entities';

const ACCOUNT = { email: 'ada@example.com', password: PASSWORD, password_confirmation: PASSWORD };
const ADDRESS = { street: 'St James Square', city: 'London', geo: null };
const PHONE = { number: '+44 20 7946 0000', kind: null };
const FORM = { ...ACCOUNT, address: ADDRESS, phones: [PHONE] };

/** A rule that contains itself. */
const COMMENT: RegistrationRules[string] = { type: 'object', optional: true };
COMMENT.fields = { text: {}, answer: COMMENT };

const RULES: RegistrationRules = {
  email: { email: true },
  password: {},
  address: {
    type: 'object',
    fields: {
      street: { maxLength: 20 },
      city: { check: (value, { email }) => value !== 'Nowhere' && email !== null },
      geo: { type: 'object', optional: true, fields: { lat: { type: 'number' }, long_name: {} } },
    },
    check: (value) => (value as typeof ADDRESS).street !== (value as typeof ADDRESS).city,
  },
  phones: {
    type: 'array',
    maxItems: 3,
    items: { type: 'object', fields: { number: {}, kind: { optional: true } } },
    check: (value) => (value as object[]).length > 0,
  },
  tags: { type: 'array', optional: true, items: { maxLength: 5 } },
  comment: COMMENT,
  // The name of an inherited member.
  car: { type: 'object', optional: true, fields: { constructor: { optional: true } } },
};

const nested = (levels: number): object | null => (levels ? { text: 'x', answer: nested(levels - 1) } : null);

describe('registration with nested fields', () => {
  let registered: Record<string, unknown>[] = [];
  const { t } = membersForFile({
    hooks: {
      registerRules: () => RULES,
      register: async (fields) => {
        registered.push(fields);
        return t.database.getRepository(Member).save({ name: 'x', email: String(fields.email) });
      },
    },
  });
  beforeEach(() => (registered = []));
  const register = (body: object) => t.http.post('/auth/register').send(body);

  it('passes objects and lists to hooks.register: trimmed, with null for what is missing, without undeclared fields', async () => {
    await register({
      ...FORM,
      address: { street: ' St James Square ', city: 'London', role: 'admin', geo: { lat: 51.5, long_name: 'x', y: 1 } },
      phones: [{ number: ' 1 ', kind: '', verified: true }, PHONE],
      tags: [' a ', 'b'],
      role: 'admin',
    }).expect(200);
    expect(registered).toEqual([
      {
        email: 'ada@example.com',
        password: PASSWORD,
        address: { street: 'St James Square', city: 'London', geo: { lat: 51.5, long_name: 'x' } },
        phones: [{ number: '1', kind: null }, PHONE],
        tags: ['a', 'b'],
        comment: null,
        car: null,
      },
    ]);
  });

  it.each<[string, object, Record<string, string>]>([
    ['no object', { address: null }, { address: 'The address field is required.' }],
    ['a text as an object', { address: 'London' }, { address: 'The address field must be an object.' }],
    ['a list as an object', { address: [ADDRESS] }, { address: 'The address field must be an object.' }],
    [
      'missing fields of an object',
      { address: {} },
      {
        'address.street': 'The address.street field is required.',
        'address.city': 'The address.city field is required.',
      },
    ],
    [
      'a text that is too long in an object',
      { address: { ...ADDRESS, street: 'x'.repeat(21) } },
      { 'address.street': 'The address.street field must not be longer than 20 characters.' },
    ],
    [
      'a field two levels down',
      { address: { ...ADDRESS, geo: { lat: '51', long_name: 7 } } },
      {
        'address.geo.lat': 'The address.geo.lat field is invalid.',
        'address.geo.long_name': 'The address.geo.long name field must be a string.',
      },
    ],
    [
      'a field of an object that a check refuses',
      { address: { ...ADDRESS, city: 'Nowhere' } },
      { 'address.city': 'The address.city field is invalid.' },
    ],
    [
      'an object that a check refuses',
      { address: { street: 'London', city: 'London' } },
      { address: 'The address field is invalid.' },
    ],
    ['no list', { phones: undefined }, { phones: 'The phones field is required.' }],
    ['an object as a list', { phones: { 0: PHONE } }, { phones: 'The phones field must be a list.' }],
    ['a list that a check refuses', { phones: [] }, { phones: 'The phones field is invalid.' }],
    [
      'a list that is too long, whatever its items are',
      { phones: [1, 2, 3, 4] },
      { phones: 'The phones field must not have more than 3 items.' },
    ],
    [
      'items of another type',
      { phones: [PHONE, null, 'x'] },
      { 'phones.1': 'The phones.1 field is required.', 'phones.2': 'The phones.2 field must be an object.' },
    ],
    [
      'fields of items',
      { phones: [{ number: '' }, PHONE, { number: ['1'] }] },
      {
        'phones.0.number': 'The phones.0.number field is required.',
        'phones.2.number': 'The phones.2.number field must be a string.',
      },
    ],
    [
      'items of a list of texts',
      { tags: ['a', 'longer', ' ', 'a\0'] },
      {
        'tags.1': 'The tags.1 field must not be longer than 5 characters.',
        'tags.2': 'The tags.2 field is required.',
        'tags.3': 'The tags.3 field is invalid.',
      },
    ],
  ])('answers %s by the path of the field', async (_, more, errors) => {
    const { body } = await register({ ...FORM, ...more }).expect(422);
    const texts = Object.values(errors);
    const others = texts.length - 1;
    const more422 = others ? ` (and ${others} more ${others > 1 ? 'errors' : 'error'})` : '';
    expect(body).toEqual({
      message: texts[0] + more422,
      errors: Object.fromEntries(Object.entries(errors).map(([field, text]) => [field, [text]])),
    });
    expect(registered).toEqual([]);
  });

  it('reads a list of 100 items without maxItems, and no longer one', async () => {
    const tags = (count: number) => Array.from({ length: count }, () => 'x');
    const { body } = await register({ ...FORM, tags: tags(101) }).expect(422);
    expect(body.errors).toEqual({ tags: ['The tags field must not have more than 100 items.'] });
    await register({ ...FORM, tags: tags(100) }).expect(200);
  });

  it('reads own properties only, so no field reaches a prototype', async () => {
    const keys = '"constructor":{"prototype":{"city":"x"}},"toString":"x"';
    const text = JSON.stringify(FORM).replace(
      '"geo":null',
      onFastify ? '"toString":"x"' : `"__proto__":{"geo":7},${keys}`,
    );
    await t.http.post('/auth/register').type('json').send(text).expect(200);
    expect(registered).toMatchObject([{ address: { ...ADDRESS, geo: null } }]);
    expect(Object.keys(registered[0]!.address as object)).toEqual(['street', 'city', 'geo']);
    expect(({} as { city?: string }).city).toBeUndefined();
    await register({ ...FORM, email: 'eve@example.com', car: {} }).expect(200);
    await register({ ...FORM, email: 'bob@example.com', car: { constructor: ' Lotus ' } }).expect(200);
    expect(registered.slice(1).map(({ car }) => Object.entries(car as object))).toEqual([
      [['constructor', null]],
      [['constructor', 'Lotus']],
    ]);
  });

  it('answers a body of any depth 422, also if a rule contains itself', async () => {
    await register({ ...FORM, comment: nested(20) }).expect(200);
    const { body } = await register({ ...FORM, email: 'eve@example.com', comment: nested(40) }).expect(422);
    expect(Object.keys(body.errors)).toEqual([`comment${'.answer'.repeat(32)}`]);
    const deep = `${'{"text":"x","answer":'.repeat(4000)}null${'}'.repeat(4000)}`;
    const list = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
    for (const part of [`"comment":${deep}`, `"address":${list}`, `"phones":[${list}]`]) {
      const text = JSON.stringify({ ...ACCOUNT, email: 'eve@example.com' }).replace('{', `{${part},`);
      await t.http.post('/auth/register').type('json').send(text).expect(422);
    }
  });

  it('reads nested fields of a form as well', async () => {
    if (onFastify) return;
    const form = new URLSearchParams({
      ...ACCOUNT,
      'address[street]': 'x',
      'address[city]': '',
      'phones[0][number]': '1',
    });
    const { body } = await t.http.post('/auth/register').type('form').send(form.toString()).expect(422);
    expect(Object.keys(body.errors)).toEqual(['address.city']);
  });

  it('is described in the OpenAPI document', () => {
    const { paths } = documentOf(t.app);
    const { content } = paths['/auth/register']!.post!.requestBody as { content: Record<string, { schema: object }> };
    const text = { type: 'string', maxLength: 255 };
    expect(content['application/json']!.schema).toMatchObject({
      required: ['email', 'password', 'address', 'phones', 'password_confirmation'],
      properties: {
        address: {
          type: 'object',
          required: ['street', 'city'],
          properties: {
            street: { type: 'string', maxLength: 20 },
            city: text,
            geo: { type: 'object', required: ['lat', 'long_name'], properties: { lat: { type: 'number' } } },
          },
        },
        phones: {
          type: 'array',
          maxItems: 3,
          items: { type: 'object', required: ['number'], properties: { number: text, kind: text } },
        },
        tags: { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 5 } },
        comment: { type: 'object', properties: { text, answer: { type: 'object' } } },
      },
    });
  });
});
