import { Controller, Post } from '@nestjs/common';
import { Authenticated, ForceJson } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { HostController } from '../support/hosts/host.module';

@Controller('forms')
@ForceJson()
class FormsController {
  @Post()
  @Authenticated()
  send() {
    return {};
  }
}

describe('with the option languages, a refusal', () => {
  const t = TestApp.forFile({
    options: { languages: true },
    controllers: [HostController, FormsController],
    prepare: (app) => app.enableCors({ origin: ['https://app.example.com', 'https://www.example.com'] }),
  });

  it.each([
    ['de-AT,de;q=0.9', 'de', 'Diese Zugangsdaten sind nicht korrekt.'],
    ['it,fr;q=0.5', 'fr', 'Ces identifiants sont incorrects.'],
    ['es-419', 'es', 'Estas credenciales no son correctas.'],
    ['pt-PT', 'pt', 'Estas credenciais não estão corretas.'],
    ['ja', 'ja', 'ログイン情報が正しくありません。'],
    ['nl', 'en', 'These credentials do not match our records.'],
  ])('is in the language that the client prefers: %s', async (accepted, language, message) => {
    const { body, headers } = await t.login('a', 'b').set('Accept-Language', accepted).expect(422);
    expect(body).toEqual({ message, errors: { email: [message] } });
    expect(headers['content-language']).toBe(language);
    // The code is the same in every language.
    expect(headers['x-svc-error-codes']).toBe('email=auth.wrong_credentials');
    expect(headers.vary).toMatch(/\bAccept-Language\b/);
  });

  it('is in English without the header, and says that others may get another language', async () => {
    const { body, headers } = await t.login('a', 'b').expect(422);
    expect(body.message).toBe('These credentials do not match our records.');
    expect([headers['content-language'], headers.vary]).toEqual(['en', expect.stringContaining('Accept-Language')]);
  });

  it('names the fields in the language of the client', async () => {
    const { body } = await t.http.post('/auth/login').set('Accept-Language', 'de').send({ email: 7, password: [] });
    expect(body).toEqual({
      message: 'Das Feld „E-Mail-Adresse“ muss ein Text sein. (weitere Fehler: 1)',
      errors: {
        email: ['Das Feld „E-Mail-Adresse“ muss ein Text sein.'],
        password: ['Das Feld „Passwort“ muss ein Text sein.'],
      },
    });
  });

  it.each([
    ['a guarded route of the host', () => t.get('/private'), 'Eine Anmeldung ist erforderlich.'],
    ['a route of the host with @ForceJson()', () => t.http.post('/forms'), 'Eine Anmeldung ist erforderlich.'],
    [
      'a route of the library with a body that is not JSON',
      () => t.http.post('/auth/login').type('json').send('{'),
      'Die Anfrage kann nicht gelesen werden.',
    ],
    [
      'a route of an extra guard',
      () => t.http.post('/admin/auth/login').send({}),
      'Diese Zugangsdaten sind nicht korrekt.',
    ],
  ])('is translated at %s', async (_, call, message) => {
    const { body, headers } = await call().set('Accept-Language', 'de');
    expect(body.message).toBe(message);
    expect(headers['content-language']).toBe('de');
    expect(headers.vary).toMatch(/(^|, )Accept-Language$/);
  });

  it('keeps the other values of Vary, and names the header once', async () => {
    const { headers } = await t.http.post('/forms').set({ 'Accept-Language': 'de', Origin: 'https://app.example.com' });
    expect(headers.vary!.split(/, */).toSorted()).toEqual(['Accept-Language', 'Origin']);
  });

  it('ignores a header that is no list of languages', async () => {
    for (const header of [';;;', 'q=1', `${'a'.repeat(4000)}`, 'de;q=x']) {
      const { body } = await t.login('a', 'b').set('Accept-Language', header).expect(422);
      expect(body.message).toBe('These credentials do not match our records.');
    }
  });
});

describe('with some languages', () => {
  const t = TestApp.forFile({
    options: {
      languages: ['fr', 'es'],
      messages: { 'auth.wrong_credentials': '¿?', fr: { 'auth.wrong_credentials': 'Non.' } },
      guards: { admin: { languages: ['de'] } },
    },
  });

  it('a client that accepts none of them gets the first one', async () => {
    const { body, headers } = await t.get('/private').set('Accept-Language', 'de');
    expect([body.message, headers['content-language']]).toEqual(['Vous devez vous connecter.', 'fr']);
  });

  it('a text of the host for one language precedes one for all languages', async () => {
    const of = async (accepted: string) => (await t.login('a', 'b').set('Accept-Language', accepted)).body.message;
    expect([await of('fr'), await of('es')]).toEqual(['Non.', '¿?']);
  });

  it('a guard with one language has no header that names a choice', async () => {
    const { body, headers } = await t.login('a', 7, 'admin').set('Accept-Language', 'fr').expect(422);
    expect(body.message).toBe('Das Feld „Passwort“ muss ein Text sein.');
    expect([headers['content-language'], headers.vary]).toEqual(['de', undefined]);
  });
});

describe('a function that translates', () => {
  const t = TestApp.forFile({
    options: { languages: ['en', 'de'], messages: (key, params, _, text) => `${key} ${params.field ?? ''} ${text}` },
  });

  it('gets the text of the library in the language of the client', async () => {
    const { body } = await t.login('a', 7).set('Accept-Language', 'de').expect(422);
    expect(body.message).toBe('validation.string password Das Feld „Passwort“ muss ein Text sein.');
  });
});

describe('without the option languages', () => {
  const t = TestApp.forFile();

  it('every text is English, and no header names a language', async () => {
    const { body, headers } = await t.login('a', 'b').set('Accept-Language', 'de').expect(422);
    expect(body.message).toBe('These credentials do not match our records.');
    expect([headers['content-language'], headers.vary]).toEqual([undefined, undefined]);
  });
});
