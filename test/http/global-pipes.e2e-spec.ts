import { ValidationPipe } from '@nestjs/common';
import { TestApp } from '../support/app';

describe('a host`s global ValidationPipe', () => {
  it.each([[{}], [{ whitelist: true }], [{ whitelist: true, forbidNonWhitelisted: true, transform: true }]])(
    'with %j does not judge the library`s bodies',
    async (options) => {
      const t = await TestApp.start({ prepare: (app) => app.useGlobalPipes(new ValidationPipe(options)) });
      await t.person('ada@example.com');
      await t.login('ada@example.com').expect(200);
      const { body } = await t.login('ada@example.com', 7).expect(422);
      expect(body.errors).toEqual({ password: ['The password field must be a string.'] });
      const { refresh_token: token } = await t.session();
      await t.refresh(token).expect(200);
      await t.stop();
    },
  );
});
