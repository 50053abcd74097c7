import { HttpException } from '@nestjs/common';
import { AuthException, StoreUnavailable, Unauthenticated, ValidationFailed } from './errors';
import { loginText } from '../../features/login/login.texts';
import type { Text, Translator } from './messages';

const required = (field: string): Text => ({ key: 'validation.required', params: { field } });
const string = (field: string): Text => ({ key: 'validation.string', params: { field } });
const max = (field: string): Text => ({ key: 'validation.max_length', params: { field, max: 255 } });

const german: Translator = (key, params) => `de:${key}:${Object.values(params).join('|')}`;

describe('the response body of a failure', () => {
  it('contains one text for one outcome', () => {
    const failure = new AuthException('wrong', { status: 422, text: loginText('auth.wrong_credentials') });
    expect(failure.getResponse()).toEqual({ message: 'These credentials do not match our records.' });
    expect(failure.getStatus()).toBe(422);
  });

  it('contains a general message when there is no text', () => {
    expect(new AuthException('odd', { status: 500 }).getResponse()).toEqual({
      message: 'Something went wrong on our side.',
    });
  });

  it('repeats the text of a single field as the message', () => {
    expect(new ValidationFailed({ email: [required('email')] }).getResponse()).toEqual({
      message: 'The email field is required.',
      errors: { email: ['The email field is required.'] },
    });
  });

  it.each<[number, string]>([
    [1, '(and 1 more error)'],
    [2, '(and 2 more errors)'],
    [5, '(and 5 more errors)'],
  ])('adds the number of the other %d errors: %s', (others, words) => {
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

  it('does not replace a placeholder in the name of a field', () => {
    const { message } = new ValidationFailed({ x: [required('{errors}')], y: [required('y')] }).getResponse();
    expect(message).toBe('The {errors} field is required. (and 1 more error)');
  });
});

describe('AuthException', () => {
  it('uses the first translation that is set', () => {
    const failure = new ValidationFailed({ email: [required('email')], b: [string('b')] });
    expect(failure.translatedBy(german)).toBe(failure);
    expect(failure.translatedBy(() => 'another translation').getResponse()).toEqual({
      message: 'de:validation.more:de:validation.required:email|1|error',
      errors: { email: ['de:validation.required:email'], b: ['de:validation.string:b'] },
    });
  });

  it('is an HttpException, so that an exception filter of the host can read its status and body', () => {
    const cause = new Error('cause');
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
  ])('for failed authentication, token presented: %s, has the challenge %s and no reason', (presented, challenge) => {
    const failure = new Unauthenticated(presented);
    expect([failure.getStatus(), failure.headers]).toEqual([401, { 'WWW-Authenticate': challenge }]);
    expect(failure.getResponse()).toEqual({ message: 'Authentication is required.' });
  });

  it('for an unavailable store names the store in the log and not in the response', () => {
    const failure = new StoreUnavailable('Redis');
    expect(failure.message).toBe('Redis did not answer');
    expect([failure.name, failure.getStatus(), failure.headers]).toEqual([
      'StoreUnavailable',
      503,
      { 'Retry-After': '1' },
    ]);
    expect(JSON.stringify(failure.getResponse())).not.toMatch(/Redis/);
  });

  const withCode = (message: string, code: string): Error => Object.assign(new Error(message), { code });

  it.each<[what: string, store: string, cause: unknown, message: string]>([
    [
      'a refusal of Redis',
      'Redis',
      new Error("READONLY You can't write against a read only replica."),
      'answered READONLY',
    ],
    ['one of its rights', 'Redis', new Error('NOPERM No permissions to access the key svc:2fa:1'), 'answered NOPERM'],
    ['one without a code', 'Redis', new Error("ERR unknown command 'GETDEL' with args 'svc:2fa:1'"), 'answered ERR'],
    [
      'one in a script, before Redis 7',
      'Redis',
      new Error('ERR Error running script (call to f_0a): @user_script:8: @user_script: 8: -READONLY No writes. '),
      'answered READONLY',
    ],
    [
      'one in a script, since Redis 7',
      'Redis',
      new Error('MISCONF Errors writing to the AOF file. script: 0a, on @user_script:8.'),
      'answered MISCONF',
    ],
    ['an error of its client', 'Redis', new Error('Socket closed unexpectedly'), 'did not answer'],
    [
      'an error of the socket',
      'Redis',
      withCode('connect ECONNREFUSED 127.0.0.1:6379', 'ECONNREFUSED'),
      'did not answer',
    ],
    ['an SQLSTATE', 'PostgreSQL', withCode('cannot execute INSERT (svc_sessions)', '25006'), 'answered 25006'],
    ['an SQLSTATE with letters', 'PostgreSQL', withCode('terminating connection', '57P01'), 'answered 57P01'],
    ['an error of TLS', 'PostgreSQL', withCode('SSL alert', 'EPROTO'), 'did not answer'],
    ['an error of a broken pipe', 'PostgreSQL', withCode('write EPIPE', 'EPIPE'), 'did not answer'],
    ['a code of Prisma', 'The user store', withCode('not reached', 'P1001'), 'did not answer'],
    ['a text', 'Redis', 'READONLY text', 'did not answer'],
    ['nothing', 'Redis', null, 'did not answer'],
  ])('for an unavailable store names its refusal, and no other part of its error: %s', (_, store, cause, message) => {
    const failure = new StoreUnavailable(store, cause);
    expect(failure.message).toBe(`${store} ${message}`);
    expect(failure.refusal).toBe(/answered (\w+)/.exec(message)?.[1]);
  });
});

describe('the codes of the texts of a failure', () => {
  const codesOf = (failure: AuthException): string | undefined => failure.headers['X-Svc-Error-Codes'];

  it('are those of the messages, in the order of the texts, and do not depend on the language', () => {
    const failure = new ValidationFailed({ email: [string('email'), max('email')], password: [required('password')] });
    const codes = 'email=validation.string&email=validation.max_length&password=validation.required';
    expect(codesOf(failure)).toBe(codes);
    expect(codesOf(failure.translatedBy(german))).toBe(codes);
  });

  it('are those of the host for its own texts, which are not translated', () => {
    const failure = new ValidationFailed({ coupon: [{ code: 'coupon.expired', text: 'Expired.' }, 'Too short.'] });
    expect(codesOf(failure)).toBe('coupon=coupon.expired&coupon=custom');
    expect(failure.translatedBy(german).getResponse().errors).toEqual({ coupon: ['Expired.', 'Too short.'] });
  });

  it('have an empty name for a 422 without fields, and are absent for other failures without fields', () => {
    const text = loginText('auth.wrong_credentials');
    expect(codesOf(new AuthException('wrong', { status: 422, text }))).toBe('=auth.wrong_credentials');
    expect(codesOf(new AuthException('wrong', { status: 403, text }))).toBeUndefined();
    expect(codesOf(new Unauthenticated(true))).toBeUndefined();
  });

  it.each(['a\r\nSet-Cookie: x=1', 'straße', 'a=b&c', '\ud800', '  ', '__proto__.a', 'phones.0.number'])(
    'are a header for every name of a field: %j',
    (field) => {
      const codes = codesOf(new ValidationFailed({ [field]: [required('x')] }))!;
      expect(codes).toMatch(/^[\w.*%+=-]+$/);
      expect([...new URLSearchParams(codes)]).toEqual([[field.replace('\ud800', '\ufffd'), 'validation.required']]);
    },
  );

  it('are as many as a header of 2,048 characters holds', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`field${i}`, [required('x')]]));
    const codes = codesOf(new ValidationFailed(many))!;
    expect(codes.length).toBeLessThanOrEqual(2048);
    expect([...new URLSearchParams(codes)].every(([, code]) => code === 'validation.required')).toBe(true);
    expect(codesOf(new ValidationFailed({ ['x'.repeat(5000)]: [required('x')] }))).toBeUndefined();
  });
});
