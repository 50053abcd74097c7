import { TestApp } from '../support/app';

describe('the texts of the API', () => {
  it('can be replaced one by one', async () => {
    const t = await TestApp.start({ options: { messages: { 'auth.wrong_credentials': 'Nope.' } } });
    const { body } = await t.login('a', 'b').expect(422);
    expect(body).toEqual({ message: 'Nope.', errors: { email: ['Nope.'] } });
    await t.get('/private').expect(401, { message: 'Authentication is required.' });
    await t.stop();
  });

  it('can be translated for each request, on the library`s routes and on guarded routes of the host', async () => {
    const t = await TestApp.start({
      options: {
        messages: (key, params, request) =>
          `${(request as { headers: Record<string, string> }).headers['accept-language']}:${key}:${params.field ?? ''}`,
      },
    });
    const german = (call: ReturnType<typeof t.get>) => call.set('Accept-Language', 'de');
    expect((await german(t.get('/private'))).body.message).toBe('de:auth.unauthenticated:');
    expect((await german(t.login('a', 7))).body.errors).toEqual({ password: ['de:validation.string:password'] });
    expect((await german(t.refresh('x'))).body).toEqual({ message: 'de:auth.refresh_failed:' });
    await t.stop();
  });

  it('name the field by its own name', async () => {
    const t = await TestApp.start({ options: { messages: {} } });
    const { body } = await t.login('x'.repeat(256), 'b').expect(422);
    expect(body.errors.email[0]).toBe('The email field must not be longer than 255 characters.');
    await t.stop();
  });
});
