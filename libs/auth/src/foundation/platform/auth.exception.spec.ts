import { HttpException } from '@nestjs/common';
import { AuthException, StoreUnavailable, Unauthenticated, ValidationFailed } from './errors';
import type { Text, Translate } from './messages';

const required = (field: string): Text => ({ key: 'validation.required', params: { field } });
const string = (field: string): Text => ({ key: 'validation.string', params: { field } });
const max = (field: string): Text => ({ key: 'validation.max_length', params: { field, max: 255 } });

const german: Translate = (key, params) => `de:${key}:${Object.values(params).join('|')}`;

describe('the body of a failure', () => {
  it('of one outcome is one text', () => {
    const failure = new AuthException('wrong', { status: 422, text: { key: 'auth.wrong_credentials' } });
    expect(failure.getResponse()).toEqual({ message: 'These credentials do not match our records.' });
    expect(failure.getStatus()).toBe(422);
  });

  it('without any text says that something went wrong', () => {
    expect(new AuthException('odd', { status: 500 }).getResponse()).toEqual({
      message: 'Something went wrong on our side.',
    });
  });

  it('of one field repeats its text as the message', () => {
    expect(new ValidationFailed({ email: [required('email')] }).getResponse()).toEqual({
      message: 'The email field is required.',
      errors: { email: ['The email field is required.'] },
    });
  });

  it.each<[number, string]>([
    [1, '(and 1 more error)'],
    [2, '(and 2 more errors)'],
    [5, '(and 5 more errors)'],
  ])('of several errors counts the %d others: %s', (others, words) => {
    const rest = Object.fromEntries(Array.from({ length: others }, (_, i) => [`f${i}`, [string(`f${i}`)]]));
    const { message, errors } = new ValidationFailed({ email: [required('email')], ...rest }).getResponse();
    expect(message).toBe(`The email field is required. ${words}`);
    expect(Object.keys(errors!)).toEqual(['email', ...Object.keys(rest)]);
  });

  it('counts several errors of one field', () => {
    expect(
      new ValidationFailed({ email: [string('email'), max('email')], password: [required('password')] }).getResponse(),
    ).toEqual({
      message: 'The email field must be a string. (and 2 more errors)',
      errors: {
        email: ['The email field must be a string.', 'The email field must not be longer than 255 characters.'],
        password: ['The password field is required.'],
      },
    });
  });

  it('does not take a field`s name for a place to fill', () => {
    const { message } = new ValidationFailed({ x: [required('{errors}')], y: [required('y')] }).getResponse();
    expect(message).toBe('The {errors} field is required. (and 1 more error)');
  });
});

describe('a failure', () => {
  it('is said in the language of who speaks first', () => {
    const failure = new ValidationFailed({ email: [required('email')], b: [string('b')] });
    expect(failure.translatedBy(german)).toBe(failure);
    expect(failure.translatedBy(() => 'someone else').getResponse()).toEqual({
      message: 'de:validation.more:de:validation.required:email|1|error',
      errors: { email: ['de:validation.required:email'], b: ['de:validation.string:b'] },
    });
  });

  it('is an HttpException, so that a host`s own filter knows its status and its body', () => {
    const cause = new Error('behind it');
    const failure = new AuthException('some_code', { status: 418, text: { key: 'server.error' } }, cause);
    expect(failure).toBeInstanceOf(HttpException);
    expect([failure.name, failure.code, failure.cause, failure.headers]).toEqual([
      'AuthException',
      'some_code',
      cause,
      {},
    ]);
  });

  it.each<[boolean, string]>([
    [true, 'Bearer error="invalid_token"'],
    [false, 'Bearer'],
  ])('of authentication, token presented: %s, challenges with %s and says no reason', (presented, challenge) => {
    const failure = new Unauthenticated(presented);
    expect([failure.getStatus(), failure.headers]).toEqual([401, { 'WWW-Authenticate': challenge }]);
    expect(failure.getResponse()).toEqual({ message: 'Authentication is required.' });
  });

  it('of a store names the store in the log and not to the caller', () => {
    const failure = new StoreUnavailable('Redis');
    expect(failure.message).toBe('Redis did not answer');
    expect([failure.name, failure.getStatus(), failure.headers]).toEqual([
      'StoreUnavailable',
      503,
      { 'Retry-After': '1' },
    ]);
    expect(JSON.stringify(failure.getResponse())).not.toMatch(/Redis/);
  });
});
