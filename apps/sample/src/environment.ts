import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the sample is configured by, besides every `SVC_*` of the library. */
export interface Environment {
  port: number;
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
  dataDir: string;
  seedDemo: boolean;
  isDevelopment: boolean;
  /** Where the sample is reached. */
  url: string;
  smtpUrl: string | undefined;
  mailFrom: string;
}

/** Reads the environment, with `.env` of the working directory under it. */
export function readEnvironment(env = process.env): Environment {
  if (existsSync('.env')) process.loadEnvFile();
  const { PORT, DATABASE_URL, REDIS_URL, DATA_DIR, SEED_DEMO, NODE_ENV, PUBLIC_URL, SMTP_URL, MAIL_FROM } = env;
  const dataDir = DATA_DIR || '.data';
  const port = Number(PORT || 3000);
  const isDevelopment = NODE_ENV !== 'production';
  if (isDevelopment) {
    env.SVC_SECRET ||= developmentSecret(dataDir, 'secret');
    env.SVC_ENCRYPTION_KEY ||= developmentSecret(dataDir, 'encryption-key');
    env.SVC_FEATURE_PASSKEYS ??= 'true';
    env.SVC_PASSKEY_RP_ID ||= 'localhost';
    env.SVC_PASSKEY_ORIGINS ||= `http://localhost:${port}`;
  }
  return {
    port,
    databaseUrl: DATABASE_URL || undefined,
    redisUrl: REDIS_URL || undefined,
    dataDir,
    seedDemo: SEED_DEMO === undefined ? isDevelopment : !['', '0', 'false'].includes(SEED_DEMO),
    isDevelopment,
    url: PUBLIC_URL || `http://localhost:${port}`,
    smtpUrl: SMTP_URL || undefined,
    mailFrom: MAIL_FROM || 'Sample <no-reply@example.com>',
  };
}

/** A secret kept beside the data, so that what it made survives a restart during development. */
function developmentSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name);
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 });
  }
  return readFileSync(file, 'utf8');
}
