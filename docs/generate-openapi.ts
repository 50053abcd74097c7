import { Test } from '@nestjs/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { apiDocument } from '../apps/sample/src/api-document';
import { AppModule } from '../apps/sample/src/app.module';
import { dataSourceOptions } from '../apps/sample/src/data-source';
import { Mailbox } from '../apps/sample/src/dev/mailbox';
import type { Environment } from '../apps/sample/src/environment';
import { sampleLogger } from '../apps/sample/src/logger';
import { Unconnected } from './unconnected';

const TARGET = join(__dirname, 'openapi.json');
const URL = 'http://localhost:3000';
const NOWHERE = 'postgres://localhost/none';

const mailbox = new Mailbox();

const ENVIRONMENT: Environment = {
  host: '127.0.0.1',
  port: 3000,
  url: URL,
  trustProxy: 0,
  databaseUrl: NOWHERE,
  migrationsRun: true,
  redisUrl: undefined,
  storesTimeout: 0,
  mailer: mailbox,
  logger: sampleLogger(undefined),
  development: { dataDir: '.data', seedDemo: false, mailbox },
};

/** The variables that the sample sets during development. */
const VARIABLES = {
  SVC_SECRET: 'of-a-document-that-signs-nothing-0123456789',
  SVC_ENCRYPTION_KEY: 'of-a-document-that-encrypts-nothing-012345',
  SVC_FEATURE_PASSKEYS: 'true',
  SVC_PASSKEY_RP_ID: 'localhost',
  SVC_PASSKEY_ORIGINS: URL,
  SVC_COOKIE_SECURE: 'false',
};

/** The OpenAPI document of the sample as a file. It is generated without stores, because none of its content depends on them. */
export async function openApiFile(): Promise<string> {
  const own = Object.entries(process.env).filter(([name]) => name.startsWith('SVC_'));
  for (const [name] of own) delete process.env[name];
  Object.assign(process.env, VARIABLES);
  try {
    const testing = await Test.createTestingModule({ imports: [AppModule.forEnvironment(ENVIRONMENT, NOWHERE)] })
      .overrideProvider(DataSource)
      .useFactory({ factory: () => new Unconnected(dataSourceOptions(NOWHERE)).initialize() })
      .compile();
    return `${JSON.stringify(apiDocument(testing.createNestApplication({ logger: false })), null, 2)}\n`;
  } finally {
    for (const name of Object.keys(VARIABLES)) delete process.env[name];
    Object.assign(process.env, Object.fromEntries(own));
  }
}

if (require.main === module) void openApiFile().then((text) => writeFileSync(TARGET, text));
