import type { INestApplication, Type } from '@nestjs/common';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { modulesOf, quickStartUsers } from '../docs/page-modules';
import { startHost } from '../support/hosts/adapter';
import { claimsOf } from '../support/hosts/app';
import { savedVariables } from '../support/runtime/variables';
import { type TestDatabase, createEmptyDatabase } from '../support/stores/database';

const SECRET = 'a-secret-of-the-recipe-0123456789-abcdef';
const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a horse with wings' };

let database: TestDatabase;
let app: INestApplication | undefined;
let restoreVariables: () => void;

beforeEach(async () => {
  restoreVariables = savedVariables();
  database = await createEmptyDatabase();
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  restoreVariables();
  await database.drop();
});

describe('the recipe for ConfigService', () => {
  const before = process.cwd();
  let folder: string;

  beforeEach(() => process.chdir((folder = mkdtempSync(join(tmpdir(), 'svc-config-')))));
  afterEach(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });

  const start = async (lines: Record<string, string>): Promise<void> => {
    const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync('.env', text.join(''));
    const page = modulesOf('docs/recipes/config-service.md', { './users.js': quickStartUsers() });
    app = await startHost(page['src/app.module.ts'].AppModule as Type);
  };

  it('takes the options from .env: own variables, and those of the library', async () => {
    await start({
      DATABASE_URL: database.url,
      AUTH_SECRET: SECRET,
      AUTH_ACCESS_TTL: '60',
      SVC_COOKIE_MODE: 'true',
      SVC_ISSUER: 'https://shop.example.com',
    });
    const body = { ...ADA, password_confirmation: ADA.password };
    const answer = await request(app!.getHttpServer()).post('/auth/register').send(body).expect(200);
    expect(answer.body.expires_in).toBe(60);
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^__Host-refresh=/);
    expect(claimsOf(answer.body.access_token).iss).toBe('https://shop.example.com');
  });

  it('does not start without a variable, and names it', async () => {
    await expect(start({ DATABASE_URL: database.url })).rejects.toThrow('Set AUTH_SECRET');
  });

  it('does not start with a value that the library refuses, and names the option', async () => {
    const lines = { DATABASE_URL: database.url, AUTH_SECRET: SECRET, AUTH_ACCESS_TTL: 'soon' };
    await expect(start(lines)).rejects.toThrow(/accessTtl/);
  });
});

describe('the recipe for monorepos', () => {
  it('starts the issuer, whose tokens are for all services', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    Object.assign(process.env, { DATABASE_URL: database.url, SVC_SECRET: SECRET });
    Object.assign(process.env, { SVC_PRIVATE_KEY: privateKey, SVC_PUBLIC_KEY: publicKey });
    delete process.env.REDIS_URL;
    const page = modulesOf('docs/recipes/monorepo.md');
    app = await startHost(page['src/api.module.ts'].ApiModule as Type);
    const { body } = await request(app.getHttpServer()).get('/auth/jwks').expect(200);
    expect(body.keys).toEqual([expect.objectContaining({ kid: 'k1', alg: 'ES256' })]);
  });
});
