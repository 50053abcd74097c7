import { existsSync } from 'node:fs';
import type { LoggerService } from '@nestjs/common';
import { type Mailer, nodemailerMailer } from '@svc/auth';
import { type Development, readDevelopment, isSwitchedOn } from './dev/development';
import { sampleLogger } from './logger';

/** The settings of the sample. The library reads its `SVC_*` variables itself: see `auth.options.ts`. */
export interface Environment {
  port: number;
  /** The address to listen on. Without it, the server listens on all addresses. */
  host: string | undefined;
  /** The public URL of the server. Links in mails begin with it. */
  url: string;
  /** The number of proxies in front of the server that set `X-Forwarded-For`. 0: the header has no effect. */
  trustProxy: number;
  databaseUrl: string | undefined;
  /** Whether the application runs the migrations at its start, which is for a single instance. */
  migrationsRun: boolean;
  redisUrl: string | undefined;
  /** How many seconds the start waits for PostgreSQL and Redis. 0: each of them is asked once. */
  storesTimeout: number;
  mailer: Mailer | undefined;
  /** With whom customers can sign in beside the password. */
  identityProvider?: SampleProvider | undefined;
  logger: LoggerService;
  /** Settings for development only. */
  development: Development;
}

/** A provider with OpenID Connect. */
export interface SampleProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** What the page calls it. */
  label: string;
  /** Whether it answers with a form, as Apple does. */
  postsForms: boolean;
}

/** @throws Error if only a part of the variables is set */
function readProvider(env: Record<string, string | undefined>): SampleProvider | undefined {
  const { SAMPLE_OIDC_ISSUER, SAMPLE_OIDC_CLIENT_ID, SAMPLE_OIDC_CLIENT_SECRET, SAMPLE_OIDC_NAME } = env;
  const [issuer, clientId, clientSecret] = [SAMPLE_OIDC_ISSUER, SAMPLE_OIDC_CLIENT_ID, SAMPLE_OIDC_CLIENT_SECRET];
  if (!issuer && !clientId && !clientSecret) return undefined;
  if (!issuer || !clientId || !clientSecret)
    throw new Error('Set SAMPLE_OIDC_ISSUER, SAMPLE_OIDC_CLIENT_ID and SAMPLE_OIDC_CLIENT_SECRET, or none of them.');
  const label = SAMPLE_OIDC_NAME || new URL(issuer).host;
  return { issuer, clientId, clientSecret, label, postsForms: isSwitchedOn(env.SAMPLE_OIDC_FORM_POST, false) };
}

/** Reads the environment, and `.env` of the working directory for the variables that are not set. */
export function readEnvironment(env = process.env, args: readonly string[] = process.argv): Environment {
  if (existsSync('.env')) process.loadEnvFile();
  const development = readDevelopment(env, args);
  const {
    HOST,
    PORT,
    PUBLIC_URL,
    TRUST_PROXY,
    DATABASE_URL,
    MIGRATIONS_RUN,
    REDIS_URL,
    STORES_TIMEOUT,
    SMTP_URL,
    MAIL_FROM,
    LOG_LEVEL,
  } = env;
  // Links in mails begin with it: a guess, for example from the Host header, would let a client choose their target.
  if (!PUBLIC_URL) {
    throw new Error(
      'PUBLIC_URL is missing. Set it to where this server is reached, such as https://orders.example.com.',
    );
  }
  if (!/^\d*$/.test(TRUST_PROXY ?? '')) {
    throw new Error(`TRUST_PROXY is "${TRUST_PROXY}". Set it to the number of proxies in front of this server.`);
  }
  if (!/^\d*$/.test(STORES_TIMEOUT ?? '')) {
    throw new Error(
      `STORES_TIMEOUT is "${STORES_TIMEOUT}". Set it to the number of seconds that the start waits for PostgreSQL and Redis.`,
    );
  }
  return {
    host: HOST || undefined,
    port: Number(PORT || 3000),
    url: PUBLIC_URL,
    trustProxy: Number(TRUST_PROXY || 0),
    databaseUrl: DATABASE_URL || undefined,
    migrationsRun: isSwitchedOn(MIGRATIONS_RUN, true),
    redisUrl: REDIS_URL || undefined,
    storesTimeout: Number(STORES_TIMEOUT || 60),
    mailer: SMTP_URL ? nodemailerMailer(SMTP_URL, MAIL_FROM || 'Sample <no-reply@example.com>') : development.mailbox,
    identityProvider: readProvider(env),
    logger: sampleLogger(LOG_LEVEL),
    development,
  };
}
