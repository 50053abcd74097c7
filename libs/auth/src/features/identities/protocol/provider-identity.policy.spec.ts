import type { ClaimRules } from '../provider-options';
import {
  type Claims,
  identityOf,
  isFresh,
  nameOfForm,
  provesAddress,
  provesTwoFactors,
} from './provider-identity.policy';

const BASE = { iss: 'https://id.example.com', sub: 'ada' };
const of = (claims: Claims, rules: ClaimRules = {}) => identityOf({ ...BASE, ...claims }, rules);

describe('the identity of verified claims', () => {
  it.each<[string, unknown]>([
    ['no text', 1],
    ['empty', ''],
    ['too long', 'x'.repeat(256)],
    ['with a NUL', 'a\0'],
    ['not ASCII', 'ä'],
    ['absent', undefined],
  ])('is refused with a subject that is %s', (_, sub) => {
    expect(of({ sub })).toEqual({ refused: 'the subject is invalid' });
  });

  it.each<[unknown, unknown, ClaimRules['emailVerified'], boolean]>([
    ['ada@example.com', true, undefined, true],
    ['ada@example.com', 'true', undefined, false],
    ['ada@example.com', 1, undefined, false],
    ['ada@example.com', 'false', undefined, false],
    ['ada@example.com', undefined, undefined, false],
    [undefined, true, undefined, false],
    ['ada@example.com', true, 'text', true],
    ['ada@example.com', 'true', 'text', true],
    ['ada@example.com', 'false', 'text', false],
    ['ada@example.com', 'TRUE', 'text', false],
    ['ada@example.com', true, 'xms_edov', false],
  ])('with email %j and email_verified %j, by the rule %s: %s', (email, email_verified, emailVerified, expected) => {
    expect(of({ email, email_verified }, { emailVerified })).toMatchObject({ emailVerified: expected });
  });

  it.each([
    [true, true],
    [1, true],
    ['1', true],
    ['true', true],
    [false, false],
    ['0', false],
    [undefined, false],
  ])('accepts an address of Entra with xms_edov %j: %s', (xms_edov, expected) => {
    const claims = { email: 'ada@example.com', email_verified: false, xms_edov };
    expect(of(claims, { emailVerified: 'xms_edov' })).toMatchObject({ emailVerified: expected });
  });

  it.each<[unknown, string | null]>([
    ['Ada@Example.com', 'Ada@Example.com'],
    ['no address', null],
    ['a@b@c', null],
    ['ada@example.com\n', null],
    [`${'x'.repeat(250)}@b.de`, null],
    [['ada@example.com'], null],
  ])('takes the email %j as %j', (email, expected) => {
    expect(of({ email })).toMatchObject({ email: expected });
  });

  it.each<[unknown, string | null]>([
    ['  Ada Lovelace ', 'Ada Lovelace'],
    ['A\0d\na', 'Ada'],
    ['\n', null],
    ['x'.repeat(5000), 'x'.repeat(255)],
    [`${'x'.repeat(254)}😀y`, `${'x'.repeat(254)}😀`],
    ['a\ud800', 'a'],
    [{ first: 'Ada' }, null],
  ])('takes the name %j as %j', (name, expected) => {
    expect(of({ name })).toMatchObject({ name: expected });
  });

  it('takes only texts of amr, acr and sid, and a number of auth_time', () => {
    expect(of({ amr: ['mfa', 1, null, 'x'.repeat(65)], acr: 'high', sid: 's', auth_time: 1 })).toMatchObject({
      amr: ['mfa'],
      acr: 'high',
      sid: 's',
      authTime: 1,
    });
    expect(of({ amr: 'mfa', acr: 2, sid: 'x'.repeat(256), auth_time: '1' })).toMatchObject({
      amr: [],
      acr: null,
      sid: null,
      authTime: null,
    });
  });

  const A = '11111111-2222-3333-4444-555555555555';
  const B = '99999999-2222-3333-4444-555555555555';
  const at = (tenant: string): string => `https://login.microsoftonline.com/${tenant}/v2.0`;

  it.each<[string, readonly string[] | 'any', unknown, string, boolean]>([
    ['its tenant', [A], A, at(A), true],
    ['another tenant', [A], B, at(B), false],
    ['its tenant, with the issuer of another one', [A], A, at(B), false],
    ['any tenant', 'any', B, at(B), true],
    ['any tenant, with the template as issuer', 'any', '{tenantid}', at('{tenantid}'), false],
    ['any tenant, without a tenant', 'any', undefined, at(A), false],
    ['no tenant of the list', [], A, at(A), false],
  ])('is that of Entra with %s', (_, tenants, tid, iss, expected) => {
    const identity = of({ iss, tid }, { tenants: { of: tenants, issuer: at('{tenantid}') } });
    expect('refused' in identity).toBe(!expected);
  });

  it.each([
    ['example.com', true],
    ['other.com', false],
    [undefined, false],
  ])('is refused for a Workspace domain that is not in the list: %s', (hd, expected) => {
    const identity = of({ hd }, { oneOf: { claim: 'hd', values: ['example.com'] } });
    expect('refused' in identity).toBe(!expected);
  });
});

describe('the name in the form of Apple', () => {
  it.each<[string | null, string | null]>([
    ['{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"x@example.com"}', 'Ada Lovelace'],
    ['{"name":{"firstName":"Ada"}}', 'Ada'],
    ['{"name":null}', null],
    ['{}', null],
    ['null', null],
    ['{', null],
    [null, null],
  ])('%s is %j', (user, expected) => {
    expect(nameOfForm(user)).toBe(expected);
  });
});

describe('what a provider proves', () => {
  it.each<[number | null, boolean]>([
    [1000, true],
    [940, true],
    [939, false],
    [1121, true],
    [1122, false],
    [null, false],
  ])('asked at %j: the person was asked from second 1000 to 1061, with a tolerance of 60: %s', (authTime, expected) => {
    expect(isFresh({ authTime }, { beganAt: 1_000_999, now: 1_060_999 }, 60)).toBe(expected);
  });

  it.each<[string | null, boolean, readonly string[] | 'any', boolean]>([
    ['ada@example.com', true, ['example.com'], true],
    ['ada@EXAMPLE.com', true, ['example.com'], true],
    ['ada@sub.example.com', true, ['example.com'], false],
    ['ada@example.com.evil.com', true, ['example.com'], false],
    ['ada@example.com', false, ['example.com'], false],
    ['ada@example.com', false, 'any', false],
    ['ada@example.com', true, 'any', true],
    ['ada@example.com', true, [], false],
    [null, true, 'any', false],
  ])('the address %j, verified %s, for %j: %s', (email, emailVerified, authorityFor, expected) => {
    expect(provesAddress({ email, emailVerified }, authorityFor)).toBe(expected);
  });

  it.each<['ask' | 'provider', string[], string | null, boolean]>([
    ['provider', ['pwd', 'mfa'], null, true],
    ['provider', ['pwd'], 'high', true],
    ['provider', ['pwd'], 'low', false],
    ['provider', [], null, false],
    ['ask', ['mfa'], 'high', false],
  ])('with secondFactor %s, amr %j and acr %j, two factors: %s', (secondFactor, amr, acr, expected) => {
    expect(provesTwoFactors({ amr, acr }, { secondFactor, acrOfTwoFactors: ['high'] })).toBe(expected);
  });
});
