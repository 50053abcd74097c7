import SwaggerParser from '@apidevtools/swagger-parser';
import { Controller, Get, RequestMethod } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { AuthModuleOptions } from '@svc/auth';
import { describeAuth } from '@svc/auth/openapi';
import { operatorOptions } from '../support/flows/operators';
import { TestApp, type TestAppOptions } from '../support/hosts/app';
import { membersForFile, startMembers } from '../support/hosts/members';
import { PASSKEYS } from '../support/flows/passkeys';
import { Member } from '../support/hosts/user-entities';
import { routesOf } from '../support/views/routes';
import { DocumentChecker, documentOf } from './support/document-checker';

const EVERYTHING: Partial<AuthModuleOptions> = {
  ...PASSKEYS,
  features: { ...PASSKEYS.features, twoFactor: true },
};

async function described(options: Partial<AuthModuleOptions>, more: TestAppOptions = {}) {
  const t = await TestApp.start({ options, ...more });
  const document = documentOf(t.app);
  const contract = await DocumentChecker.of(document);
  await t.stop();
  return { t, document, contract };
}

const routesIn = ({ operations }: DocumentChecker): string[] =>
  operations.map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`).toSorted();

const valid = (document: object) => SwaggerParser.validate(structuredClone(document) as never);

describe('the OpenAPI document', () => {
  describe('with every feature on', () => {
    const { t } = membersForFile(EVERYTHING);

    it.each(['3.0.0', '3.1.0'])('is valid OpenAPI %s and contains every mounted route', async (version) => {
      const document = documentOf(t.app, version);
      await valid(document);
      const contract = await DocumentChecker.of(document);
      expect(routesIn(contract)).toEqual(routesOf(t));
      const ids = contract.operations.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });

  it('contains no disabled feature, and of an extra guard only its mounted routes', async () => {
    const { t, contract } = await described({});
    expect(routesIn(contract)).toEqual(routesOf(t));
    expect(contract.op('api_login').path).toBe('/auth/login');
    expect(contract.op('admin_login').path).toBe('/admin/auth/login');
    expect(() => contract.op('api_register')).toThrow('no operation');
    expect(contract.op('api_login').responses).not.toHaveProperty('423');
    expect(JSON.stringify(contract.op('api_login').responses[200])).not.toContain('challenge_token');
    // Where operators can suspend a user, a sign-in can be refused.
    const { contract: suspending } = await described(operatorOptions());
    const refusing = [contract, suspending].map((one) => '401' in one.op('api_login').responses);
    expect(refusing).toEqual([false, true]);
    expect(suspending.op('admin_login').responses).not.toHaveProperty('401');
  });

  it('contains the field remember of sign-ins with sessions.ttlWithoutRemember, and of no other request', async () => {
    const fields = async (options: Partial<AuthModuleOptions>) => {
      const { t } = await startMembers({ ...EVERYTHING, ...options });
      const { operations } = await DocumentChecker.of(documentOf(t.app));
      await t.stop();
      return operations.filter((one) => JSON.stringify(one).includes('"remember"')).map(({ id }) => id);
    };
    expect(await fields({})).toEqual([]);
    expect((await fields({ sessions: { ttlWithoutRemember: 86_400 } })).toSorted()).toEqual([
      'admin_login',
      'api_login',
      'api_passkey_login',
      'api_register',
    ]);
  });

  it('contains the security schemes but no route when routes are off', async () => {
    const { document } = await described({ routes: false });
    await valid(document);
    expect(Object.keys(document.paths).filter((path) => path.includes('auth'))).toEqual([]);
    expect(document.components?.securitySchemes).toHaveProperty('api_access_token');
  });

  it('declares access keys, in their format, for the guards that have them', async () => {
    const schemesWith = async (options: Parameters<typeof described>[0]) =>
      (await described(options)).document.components!.securitySchemes!;
    expect(Object.keys(await schemesWith({})).filter((name) => name.endsWith('_key'))).toEqual([]);
    const schemes = await schemesWith({ features: { accessKeys: true }, accessKeys: { prefix: 'shop' } });
    expect(schemes.api_access_key).toEqual({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'shop_{id}_{secret}',
      description:
        'An access key of the guard "api": the prefix, an id of 32 and a secret with a checksum of 72 hex characters.',
    });
  });

  it('uses the configured path, identifier, confirmation header and global prefix', async () => {
    const { document, contract } = await described(
      {
        path: '/v1/sign-in/',
        users: { entity: Member },
        username: 'name',
        guards: { admin: { username: 'email' } } as never,
        confirm: { header: 'X-Proof' },
      },
      {
        prepare: (app) =>
          app.setGlobalPrefix('api', { exclude: [{ path: 'v1/sign-in/jwks', method: RequestMethod.GET }] }),
      },
    );
    const login = contract.op('api_login');
    expect(login.path).toBe('/api/v1/sign-in/login');
    expect(Object.keys(login.body!.properties)).toEqual(['name', 'password', 'trusted_device_token']);
    expect(contract.op('api_jwks').path).toBe('/v1/sign-in/jwks');
    expect(document.components?.securitySchemes).toHaveProperty('api_confirmation.name', 'X-Proof');
  });

  it('has the refresh token in the body in body mode, and as a cookie in cookie mode', async () => {
    const { document, contract } = await described({
      guards: { admin: { cookieMode: true } } as never,
      cookie: { secure: false },
    });
    const [body, cookie] = [contract.op('api_refresh'), contract.op('admin_refresh')];
    expect(body.body).toMatchObject({ required: ['refresh_token'] });
    expect(body.security).toEqual([]);
    expect(body.responses[200]).not.toHaveProperty('headers.Set-Cookie');
    expect(JSON.stringify(body.responses[200])).toContain('refresh_token');

    expect(cookie.body).toBeUndefined();
    expect(cookie.security).toEqual([{ admin_refresh_cookie: [] }]);
    expect(cookie.responses[200]).toHaveProperty('headers.Set-Cookie');
    expect(JSON.stringify(cookie.responses[200])).not.toContain('refresh_token');
    expect(cookie.responses).toHaveProperty('403');
    expect(document.components?.securitySchemes).toHaveProperty('admin_refresh_cookie', {
      type: 'apiKey',
      in: 'cookie',
      name: 'refresh-admin',
      description: 'A refresh token.',
    });
    expect(document.components?.securitySchemes).not.toHaveProperty('api_refresh_cookie');
  });

  it('has the refresh token in both, and the origin check, where a host asks for both', async () => {
    const { document, contract } = await described({ refreshTokenFrom: 'both' });
    const { body, security, responses } = contract.op('api_refresh');
    expect(body).toMatchObject({ properties: { refresh_token: { type: 'string' } } });
    expect(body).not.toHaveProperty('required');
    expect(security).toEqual([{ api_refresh_cookie: [] }, {}]);
    expect(responses).toHaveProperty('403');
    expect(document.components?.securitySchemes).toHaveProperty('api_refresh_cookie');
  });

  it('declares what a route requires: an access token, or also a confirmation', async () => {
    const { contract } = await described({});
    expect(contract.op('api_login').security).toEqual([]);
    expect(contract.op('admin_logout').security).toEqual([{ admin_access_token: [] }]);
    expect(contract.op('api_account_delete').security).toEqual([{ api_access_token: [], api_confirmation: [] }]);
  });

  it('takes the fields of a registration from the rules of the host', async () => {
    const rules = {
      email: { email: true },
      password: {},
      age: { type: 'number', optional: true },
      name: { maxLength: 9 },
    };
    const { t } = await startMembers({ hooks: { registerRules: () => rules as never } });
    const { body } = (await DocumentChecker.of(documentOf(t.app))).op('api_register');
    expect(body).toMatchObject({
      required: ['email', 'password', 'name', 'password_confirmation'],
      properties: { age: { type: 'number' }, name: { maxLength: 9 }, email: { format: 'email' } },
    });
    await t.stop();
  });

  it('describes the fields of a registration only as far as its rules are defined without a request', async () => {
    const registerRules = ({ body }: { body: { kind: string } }) => ({ [body.kind]: {}, email: {}, password: {} });
    const { t } = await startMembers({ hooks: { registerRules: registerRules as never } });
    const { body } = (await DocumentChecker.of(documentOf(t.app))).op('api_register');
    expect(body).toEqual({ type: 'object', description: expect.any(String) });
    await t.stop();
  });

  it("keeps the host's part unchanged, and needs no additional package", async () => {
    @Controller('orders')
    class OrdersController {
      @Get()
      list() {}
    }
    const t = await TestApp.start({ controllers: [OrdersController] });
    const before = SwaggerModule.createDocument(t.app, new DocumentBuilder().addTag('Orders').build());
    const own = structuredClone(before);
    const after = describeAuth(t.app, before);
    expect(before).toEqual(own);
    expect(after.paths['/orders']).toEqual(before.paths['/orders']);
    expect(after.tags?.[0]).toEqual(before.tags?.[0]);

    const bare = describeAuth(t.app, { openapi: '3.1.0', info: { title: 'By hand', version: '1' }, paths: {} });
    await valid(bare);
    expect(Object.keys(bare.paths)).toContain('/auth/login');
    expect(JSON.stringify(bare)).not.toContain('nullable');
    await t.stop();
  });
});
