import { Controller, Get } from '@nestjs/common';
import { Auth, AuthConfigError, type PublicGuardConfig } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { ADMIN_AUDIENCE, API_AUDIENCE, ENCRYPTION_KEY, SECRET } from '../support/hosts/host.module';

/** A host that shows its clients the part that they need. */
@Controller('client-config')
class ClientConfig {
  constructor(private readonly auth: Auth) {}

  @Get()
  show() {
    const { path, accessTtl, confirm, features }: PublicGuardConfig = this.auth.guardConfig();
    return { path, accessTtl, header: confirm.header, passkeys: features.passkeys };
  }

  @Get('all')
  all() {
    return [this.auth.guardConfig('api'), this.auth.guardConfig('admin')];
  }
}

describe('the configuration of a guard', () => {
  const t = TestApp.forFile({
    options: { accessTtl: 120, confirm: { header: 'X-Confirmation' }, guards: { admin: { accessTtl: 60 } } },
    controllers: [ClientConfig],
  });

  it('can be shown to clients', async () => {
    const { body } = await t.get('/client-config').expect(200);
    expect(body).toEqual({ path: 'auth', accessTtl: 120, header: 'X-Confirmation', passkeys: false });
  });

  it('is that of the named guard, with its own and its inherited values, and without secrets', async () => {
    const { body, text } = await t.get('/client-config/all').expect(200);
    expect(body).toMatchObject([
      {
        guard: 'api',
        isDefault: true,
        audience: [API_AUDIENCE],
        accessTtl: 120,
        confirm: { header: 'X-Confirmation' },
      },
      {
        guard: 'admin',
        isDefault: false,
        path: 'admin/auth',
        audience: [ADMIN_AUDIENCE],
        accessTtl: 60,
        confirm: { header: 'X-Confirmation' },
      },
    ]);
    for (const secret of [SECRET, ENCRYPTION_KEY]) expect(text).not.toContain(secret);
  });

  it('is that of the guard of the Auth instance, if no guard is named', () => {
    expect(t.auth.guardConfig().guard).toBe('api');
    expect(t.auth.guard('admin').guardConfig().guard).toBe('admin');
    expect(t.auth.guard('admin').guardConfig('api').guard).toBe('api');
  });

  it('does not exist for an undeclared guard', () => {
    expect(() => t.auth.guardConfig('amdin')).toThrow(AuthConfigError);
    expect(() => t.auth.guardConfig('amdin')).toThrow(/There is no guard "amdin"\. Declared: admin, api/);
  });
});
