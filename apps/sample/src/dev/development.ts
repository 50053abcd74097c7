import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Mailbox } from './mailbox';

/** The settings that the sample adds for development. */
export interface Development {
  /** The directory of the embedded PostgreSQL and of the generated secrets. */
  dataDir: string;
  /** Whether the demo accounts are created. */
  seedDemo: boolean;
  /** Keeps mails and shows them at `/mailbox`; undefined when mails are sent, or when other machines could read them. */
  mailbox: Mailbox | undefined;
}

type Env = Record<string, string | undefined>;

/** `npm start` passes this switch: the mailbox is shown only on request. */
const MAILBOX_SWITCH = '--mailbox';

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/** Whether the process runs in production, by the rule of the library: `NODE_ENV` is `production` or `prod` in any case. */
export const isProduction = ({ NODE_ENV }: Env = process.env): boolean =>
  ['production', 'prod'].includes(NODE_ENV?.trim().toLowerCase() ?? '');

/** Reads a switch of the environment. */
export const isSwitchedOn = (value: string | undefined, byDefault: boolean): boolean =>
  value === undefined ? byDefault : !['', '0', 'false', 'off', 'no'].includes(value);

/** Reads the settings of development. Outside production, it also sets the variables of `env` that are missing. */
export function readDevelopment(env: Env, args: readonly string[]): Development {
  const isDevelopment = !isProduction(env);
  const dataDir = env.DATA_DIR || '.data';
  if (isDevelopment) setDefaults(env, dataDir);

  const isRequested = ['development', 'test'].includes(env.NODE_ENV ?? '') || args.includes(MAILBOX_SWITCH);
  const showsMails = !env.SMTP_URL && isDevelopment && isRequested && LOOPBACK.includes(env.HOST ?? '');
  return {
    dataDir,
    seedDemo: isSwitchedOn(env.SEED_DEMO, isDevelopment),
    mailbox: showsMails ? new Mailbox() : undefined,
  };
}

function setDefaults(env: Env, dataDir: string): void {
  const url = `http://localhost:${Number(env.PORT || 3000)}`;
  // The demo accounts have known passwords: other machines reach them only if HOST is set.
  env.HOST ||= '127.0.0.1';
  env.PUBLIC_URL ||= url;
  env.SVC_SECRET ||= keptSecret(dataDir, 'secret');
  env.SVC_ENCRYPTION_KEY ||= keptSecret(dataDir, 'encryption-key');
  env.SVC_FEATURE_PASSKEYS ??= 'true';
  env.SVC_PASSKEY_RP_ID ||= 'localhost';
  env.SVC_PASSKEY_ORIGINS ||= url;
  // Some browsers refuse a Secure cookie from localhost without TLS.
  if (!env.PUBLIC_URL.startsWith('https:')) env.SVC_COOKIE_SECURE ??= 'false';
}

/** A random secret in a file of the data directory: tokens and data stay readable after a restart. */
function keptSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name);
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 });
  }
  return readFileSync(file, 'utf8');
}
