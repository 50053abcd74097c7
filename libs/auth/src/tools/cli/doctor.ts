import { DataSource } from 'typeorm';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import type { AuthModuleOptions } from '../../foundation/config/auth-options';
import { authOptionsFromEnv } from '../../foundation/config/env';
import { optionErrors } from '../../foundation/config/option-checks';
import { isProduction } from '../../foundation/config/option-values.policy';
import { resolveOptions } from '../../foundation/config/resolve-options';
import { unsafeValueErrors } from '../../foundation/config/unsafe-values';
import { redisErrors } from '../../foundation/config/url-checks';
import { Clock } from '../../foundation/platform/clock';
import { Database } from '../../foundation/platform/database';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Realms } from '../../foundation/realm/realm';
import { OwnRedis } from '../../foundation/security-store/own-redis';
import { type RedisSource, redisClientOf } from '../../foundation/security-store/redis-client';
import { Keyring } from '../../identity/tokens/keyring';
import { RemoteKeys, keySetSource } from '../../identity/tokens/remote-keys';
import { MIGRATIONS } from '../migrations/missing-schema';
import { closed } from '../console/application';
import { CommandRefused } from '../console/command-error';
import { type Finding, type Subject, configChecks, runtimeChecks } from './config-checks';
import { DatabaseDown, type LogLine, exportedBy, fileOfHost, startHostOf } from './host';
import { databaseChecks, databaseFailure, redisChecks } from './store-checks';

export interface DoctorArguments {
  readonly file?: string;
  readonly export?: string;
  readonly url?: string;
  readonly json?: boolean;
}

/** What was found before the checks, what they are about, and how to release it. */
interface Examined {
  readonly found: Finding[];
  readonly subject: Subject;
  readonly close: () => Promise<unknown>;
}

const NOTHING_TO_CLOSE = async (): Promise<void> => undefined;

/**
 * Checks the options, the keys and the stores of an application, and prints each check with its correction. The output has
 * no secret.
 *
 * @returns the exit code: 0 if all is well, 1 for warnings, 2 for errors
 */
export async function doctor({ file: named, export: name, url, json = false }: DoctorArguments): Promise<number> {
  const file = fileOfHost(named);
  const findings = await withoutOutput(() => examine(file, name, url));
  process.stdout.write(json ? asJson(findings) : asText(findings, named ?? file));
  return exitCode(findings);
}

/** Runs code of the host. What it writes to stdout goes to stderr, because stdout has the result only. */
async function withoutOutput<T>(work: () => Promise<T>): Promise<T> {
  const { stdout, stderr } = process;
  const write = stdout.write;
  stdout.write = stderr.write.bind(stderr) as typeof write;
  try {
    return await work();
  } finally {
    stdout.write = write;
  }
}

async function examine(file: string | undefined, name: string | undefined, url?: string): Promise<Finding[]> {
  const exported = file === undefined ? undefined : await exportedBy(file, name);
  const examined =
    exported && 'module' in exported
      ? await ofApplication(exported.module, file)
      : await ofOptions(exported?.options, file);
  const { found, subject, close } = examined;
  const findings = [
    ...runtimeChecks(),
    ...found,
    ...(await configChecks(subject, url)),
    ...(await databaseChecks(subject)),
    ...(await redisChecks(subject)),
  ];
  await closed({ close: async () => void (await close()) });
  const isRefused = found.some(({ check, status }) => check === 'options' && status === 'error');
  const secrets = secretsOf(subject);
  return (
    findings
      .filter(({ check, status }) => !(isRefused && check === 'options' && status === 'ok'))
      // Guards inherit options.
      .filter(
        (one, i, all) => all.findIndex(({ check, message }) => check === one.check && message === one.message) === i,
      )
      .map((finding) => withoutSecrets(finding, secrets))
  );
}

/** Starts the application, without its HTTP server, and reads its configuration. */
async function ofApplication(module: Parameters<typeof startHostOf>[0], file?: string): Promise<Examined> {
  const { context, failure, lines } = await startHostOf(module);
  const production = isProduction();
  if (!context) {
    const { found, subject, close } = await ofEnvironment(file, false);
    const failures = failuresOf(failure!);
    // The database of the environment is usually that of the application.
    const others = found.filter(
      ({ check }) => !failures.some((one) => one.check === 'postgres' && check === 'postgres'),
    );
    return { found: [...failures, ...others], subject, close };
  }
  const close = (): Promise<void> => context.close();
  let config: AuthConfig;
  try {
    config = context.get<AuthConfig>(AUTH_CONFIG, { strict: false });
  } catch {
    const missing: Finding = {
      check: 'start',
      status: 'error',
      message: 'The application starts, but does not import AuthModule.',
      cure: 'Import AuthModule.forRoot() in the root module, or run: npx svc-auth init',
    };
    return { found: [missing], subject: { file, production }, close };
  }
  const subject: Subject = {
    file,
    production,
    config,
    database: context.get(Database, { strict: false }),
    redis: redisClientOf(config.store) ?? context.get(OwnRedis, { strict: false }).connected,
    keyrings: context.get(Realms, { strict: false }).all.map((scope) => scope.get(Keyring)),
  };
  return { found: [...started(file), ...warningsIn(lines)], subject, close };
}

const started = (file?: string): Finding[] => [{ check: 'start', status: 'ok', message: `${file} starts.` }];

/** Their own checks report these. */
const REPORTED_ELSEWHERE = /^(The database has not all|Neither redis\.url|cache is not a shared|Redis does not report)/;

const warningsIn = (lines: readonly LogLine[]): Finding[] =>
  lines
    .filter(({ level, context, text }) => level !== 'log' && context === 'Auth' && !REPORTED_ELSEWHERE.test(text))
    .map(({ text }) => ({ check: 'start', status: 'warning', message: text }));

/** Why the application does not start. */
function failuresOf(failure: Error): Finding[] {
  if (failure.name === 'AuthConfigError') return errorsIn(failure);
  if (failure instanceof DatabaseDown) return [databaseFailure(failure)];
  return [
    {
      check: 'start',
      status: 'error',
      message: failure.message,
      cure: 'Start the application itself to see the whole error with its place.',
    },
  ];
}

const errorsIn = ({ message }: Error): Finding[] =>
  message.split('\n').map((line) => ({ check: 'options', status: 'error', message: line }));

/** The options that a file exports; without one, those of the environment. */
async function ofOptions(options: AuthModuleOptions | undefined, file?: string): Promise<Examined> {
  return options ? withStores(options, file, true) : ofEnvironment(file, true);
}

async function ofEnvironment(file: string | undefined, isAll: boolean): Promise<Examined> {
  const subject = { file, production: isProduction() };
  try {
    return await withStores(authOptionsFromEnv(), file, isAll);
  } catch (error) {
    if (!(error instanceof AuthConfigError)) throw error;
    return { found: isAll ? errorsIn(error) : [], subject, close: NOTHING_TO_CLOSE };
  }
}

/**
 * Examines options without an application, and opens their stores: the Redis of the options, and the database of
 * `DATABASE_URL`.
 *
 * @param isAll whether the options are all options of the application; otherwise their own errors are not reported
 */
async function withStores(options: AuthModuleOptions, file: string | undefined, isAll: boolean): Promise<Examined> {
  const found: Finding[] = [];
  const production = isProduction();
  const errors = optionErrors(options);
  const config = errors.length ? undefined : resolveOptions(options);
  const unsafe = config ? [...redisErrors(config), ...unsafeValueErrors(config, production)] : [];
  const texts = [...errors, ...unsafe];
  if (isAll) found.push(...texts.map((message): Finding => ({ check: 'options', status: 'error', message })));
  const own = new OwnRedis();
  const redis = config && !redisErrors(config).length ? await opened(config, own, found) : undefined;
  const source = await connected(process.env.DATABASE_URL, found);
  const subject: Subject = {
    file,
    production,
    config: isAll ? config : undefined,
    redis,
    database: source && new Database(source, config?.storeTimeoutMs ?? 5000, config?.preparedStatements),
    keyrings: config && isAll ? keyringsOf(config, found) : undefined,
  };
  const close = async (): Promise<void> => {
    await own.onApplicationShutdown();
    await source?.destroy();
  };
  return { found, subject, close };
}

async function opened(config: AuthConfig, own: OwnRedis, found: Finding[]): Promise<RedisSource | undefined> {
  const { store, redisUrl } = config;
  if (store) return redisClientOf(store);
  if (redisUrl === undefined) return undefined;
  try {
    return await own.open(redisUrl);
  } catch (error) {
    found.push({ check: 'redis', status: 'error', message: (error as Error).message });
    return undefined;
  }
}

async function connected(url: string | undefined, found: Finding[]): Promise<DataSource | undefined> {
  if (!url) {
    found.push({
      check: 'postgres',
      status: 'skipped',
      message: 'DATABASE_URL is not set, so PostgreSQL is not checked.',
    });
    return undefined;
  }
  try {
    const source = new DataSource({
      type: 'postgres',
      url,
      entities: [...MIGRATIONS.keys()] as Function[],
      connectTimeoutMS: 5000,
    });
    return await source.initialize();
  } catch (error) {
    found.push(databaseFailure(error as Error));
    return undefined;
  }
}

function keyringsOf({ guards, storeTimeoutMs }: AuthConfig, found: Finding[]): Keyring[] {
  return guards.flatMap((guard) => {
    const { jwks } = guard.keys;
    const remote = () => new RemoteKeys(keySetSource(jwks!), guard.algorithm, storeTimeoutMs, new Clock());
    try {
      return [new Keyring(guard, jwks === undefined ? undefined : remote())];
    } catch (error) {
      if (!(error instanceof AuthConfigError)) throw new CommandRefused((error as Error).message);
      found.push(...errorsIn(error));
      return [];
    }
  });
}

const SECRET_NAME = /SECRET|PASSWORD|PASSPHRASE|_KEYS?$|TOKEN/;

/** A shorter text may be a part of an ordinary word. */
const SHORTEST_SECRET = 6;

/** The secrets that an error of a library might contain: of the options, and the variables with the name of a secret. */
function secretsOf({ config }: Subject): string[] {
  const fromEnv = Object.entries(process.env).flatMap(([name, value = '']) =>
    SECRET_NAME.test(name) ? value.split(',') : passwordsIn(value),
  );
  const ofGuards = (config?.guards ?? []).flatMap(({ secret, previousSecrets, keys }) => [
    secret,
    ...previousSecrets,
    keys.private,
    keys.passphrase,
  ]);
  const { key, previousKeys = [] } = config?.encryption ?? {};
  return [...fromEnv, ...ofGuards, key, ...previousKeys, ...passwordsIn(config?.redisUrl)]
    .filter((text): text is string => (text ?? '').trim().length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length);
}

/** The password of a URL as it is written, and as it is meant. */
function passwordsIn(url: string | undefined): string[] {
  if (!url || !URL.canParse(url)) return [];
  const { password } = new URL(url);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    // A percent sign that encodes nothing. PostgreSQL accepts it.
    return [password];
  }
}

function withoutSecrets({ message, cure, ...finding }: Finding, secrets: readonly string[]): Finding {
  const hide = (text: string): string => secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
  return { ...finding, message: hide(message), ...(cure !== undefined && { cure: hide(cure) }) };
}

const count = (findings: readonly Finding[], status: Finding['status']): number =>
  findings.filter((finding) => finding.status === status).length;

const exitCode = (findings: readonly Finding[]): number =>
  count(findings, 'error') ? 2 : count(findings, 'warning') ? 1 : 0;

function asJson(findings: readonly Finding[]): string {
  const status = ['ok', 'warning', 'error'][exitCode(findings)];
  return `${JSON.stringify({ status, checks: findings }, null, 2)}\n`;
}

function asText(findings: readonly Finding[], file: string | undefined): string {
  const about = file ?? 'the environment; name the compiled root module to check the whole application';
  const lines = findings.map(({ check, status, message, cure }) => {
    const indent = ' '.repeat(20);
    const text = [...message.split('\n'), ...(cure ? [`Cure: ${cure}`] : [])].join(`\n${indent}`);
    return `${status.padEnd(9)}${check.padEnd(11)}${text}`;
  });
  const [errors, warnings] = [count(findings, 'error'), count(findings, 'warning')];
  return `Checked: ${about}\n\n${lines.join('\n')}\n\nErrors: ${errors}. Warnings: ${warnings}.\n`;
}
