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
  /** The address to listen on; every one where there is none. */
  host: string | undefined;
  /** Where the sample is reached. */
  url: string;
  /** Whether mails that nobody sends are shown, with the links that are in them. */
  showsMails: boolean;
  smtpUrl: string | undefined;
  mailFrom: string;
}

/** What `npm start` says: that a developer sits at this machine. */
const MAILBOX_SWITCH = '--mailbox';

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/** Reads the environment, with `.env` of the working directory under it. */
export function readEnvironment(env = process.env, args: readonly string[] = process.argv): Environment {
  if (existsSync('.env')) process.loadEnvFile();
  const { HOST, PORT, DATABASE_URL, REDIS_URL, DATA_DIR, SEED_DEMO, NODE_ENV, SMTP_URL, MAIL_FROM } = env;
  const dataDir = DATA_DIR || '.data';
  const port = Number(PORT || 3000);
  const isDevelopment = NODE_ENV !== 'production';
  // Known passwords and shown mails are for this machine, unless somebody opens it on purpose.
  const host = HOST || (isDevelopment ? '127.0.0.1' : undefined);
  if (isDevelopment) {
    env.SVC_SECRET ||= developmentSecret(dataDir, 'secret');
    env.SVC_ENCRYPTION_KEY ||= developmentSecret(dataDir, 'encryption-key');
    env.SVC_FEATURE_PASSKEYS ??= 'true';
    env.SVC_PASSKEY_RP_ID ||= 'localhost';
    env.SVC_PASSKEY_ORIGINS ||= `http://localhost:${port}`;
    // Not every browser keeps a secure cookie of a localhost without TLS.
    if (!env.PUBLIC_URL?.startsWith('https:')) env.SVC_COOKIE_SECURE ??= 'false';
  }
  const isMeant = ['development', 'test'].includes(NODE_ENV ?? '') || args.includes(MAILBOX_SWITCH);
  return {
    host,
    port,
    databaseUrl: DATABASE_URL || undefined,
    redisUrl: REDIS_URL || undefined,
    dataDir,
    seedDemo: SEED_DEMO === undefined ? isDevelopment : !['', '0', 'false'].includes(SEED_DEMO),
    url: publicUrl(env.PUBLIC_URL, isDevelopment, port),
    showsMails: !SMTP_URL && isDevelopment && isMeant && LOOPBACK.includes(host ?? ''),
    smtpUrl: SMTP_URL || undefined,
    mailFrom: MAIL_FROM || 'Sample <no-reply@example.com>',
  };
}

/** Mailed links begin with it, so in production nobody may guess it. */
function publicUrl(given: string | undefined, isDevelopment: boolean, port: number): string {
  if (given) return given;
  if (isDevelopment) return `http://localhost:${port}`;
  throw new Error('PUBLIC_URL is missing. Set it to where this server is reached, such as https://orders.example.com.');
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
