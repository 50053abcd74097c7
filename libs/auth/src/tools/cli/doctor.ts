import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import type { AuthModuleOptions } from '../../foundation/config/auth-options';
import { optionErrors } from '../../foundation/config/option-checks';
import { isProduction } from '../../foundation/config/option-values.policy';
import { resolveOptions } from '../../foundation/config/resolve-options';
import { unsafeValueErrors } from '../../foundation/config/unsafe-values';
import { redisErrors } from '../../foundation/config/url-checks';
import { OPTIONS, authOptionsFromEnv } from '../../library-options';
import { Clock } from '../../foundation/platform/clock';
import { Database } from '../../foundation/platform/database';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Realms } from '../../foundation/realm/realm';
import { OwnRedis } from '../../foundation/security-store/own-redis';
import { redisClientOf } from '../../foundation/security-store/first-connection';
import { type RedisSource, StoreFactory } from '../../foundation/security-store/redis-client';
import { Keyring } from '../../identity/tokens/keyring';
import { RemoteKeys, keySetSource } from '../../identity/tokens/remote-keys';
import { authEntities } from '../../entities';
import { closed } from '../console/application';
import { CommandRefused } from '../console/command-error';
import { distanceChecks } from './distance-checks';
import { type Finding, type Subject, configChecks, finding, runtimeChecks } from './config-checks';
import { DatabaseDown, type Exported, type LogLine, exportedBy, fileOfHost, startHostOf } from './host';
import { Crash, HostWatch, messageOf } from './host-watch';
import { Secrets } from './secrets';
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
  /** The options as they were given, if they are known. */
  readonly options?: unknown;
  readonly close: () => Promise<unknown>;
}

/**
 * Checks the options, the keys and the stores of an application, and prints each check with its correction. {@link Secrets}
 * are replaced in the output.
 *
 * @returns the exit code: 0 if all is well, 1 for warnings, 2 for errors
 * @throws CommandRefused if there is nothing to check
 */
export async function doctor({ file: named, export: name, url, json = false }: DoctorArguments): Promise<number> {
  const file = fileOfHost(named);
  refuseUrl(url);
  const printed = (findings: readonly Finding[]): string => (json ? asJson(findings) : asText(findings, named ?? file));
  const watch = new HostWatch(() => {
    process.exitCode = 2;
    // A stream may not be written any more.
    writeSync(1, printed([ENDED]));
  });
  try {
    const findings = await withoutOutput(() => examine(file, name, url, watch));
    process.stdout.write(printed(findings));
    return exitCode(findings);
  } catch (error) {
    throw new CommandRefused(new Secrets().hideIn(messageOf(error)));
  } finally {
    watch.end();
  }
}

/** The findings print the URL. */
function refuseUrl(url: string | undefined): void {
  if (url === undefined) return;
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : new URL('none:');
  if (!['http:', 'https:'].includes(protocol)) throw new CommandRefused('--url is no http(s) URL.');
  if (username || password)
    throw new CommandRefused('--url has a user or a password. Remove it: the key set needs no account.');
}

const ENDED = finding(
  'start',
  'error',
  'The application ended the process before the checks were over.',
  'Remove process.exit() from its start, or throw an error instead.',
);

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

async function examine(
  file: string | undefined,
  name: string | undefined,
  url: string | undefined,
  watch: HostWatch,
): Promise<Finding[]> {
  const { found, subject, options, close } = await examined(file, name, watch);
  const { config, database, redis } = subject;
  const findings = [
    ...runtimeChecks(),
    ...found,
    ...(await attempted('options', () => configChecks(subject, url))),
    ...(await attempted('postgres', () => databaseChecks(subject))),
    ...(await attempted('redis', () => redisChecks(subject))),
    ...(await attempted('distance', () => distanceChecks(subject))),
  ];
  try {
    await closed({ close: async () => void (await close()) });
  } catch (error) {
    const message = `The application does not close without an error: ${messageOf(error)}`;
    findings.push(finding('start', 'warning', message, 'Correct its hooks of the shutdown (onApplicationShutdown).'));
  }
  findings.push(...notRun(findings, subject, url));
  // Node reports a promise without a handler after the work that is due now.
  await setImmediate();
  findings.push(...watch.crashes.flatMap((crash) => failuresOf(crash)));
  const isRefused = found.some(({ check, status }) => check === 'options' && status === 'error');
  const secrets = new Secrets(options, config, database?.options, (redis as { options?: object })?.options);
  return (
    findings
      .filter(({ check, status }) => !(isRefused && check === 'options' && status === 'ok'))
      // Guards inherit options.
      .filter(
        (one, i, all) => all.findIndex(({ check, message }) => check === one.check && message === one.message) === i,
      )
      .map((one) => secrets.hideInFinding(one))
  );
}

/** The checks that need the options of the application, besides those of the stores. */
const OF_OPTIONS = ['variables', 'keys', 'cookies', 'proxy', 'mail', 'production'];

/** The checks that could not run, each with the reason. A check that does not apply to the application has no finding. */
function notRun(findings: readonly Finding[], { config }: Subject, url: string | undefined): Finding[] {
  const has = (check: string): boolean => findings.some((one) => one.check === check);
  const isAway = (store: string): boolean =>
    findings.some(({ check, status }) => check === store && (status === 'error' || status === 'skipped'));
  const skipped = (checks: readonly string[], reason: string, cure?: string): Finding[] =>
    checks.filter((check) => !has(check)).map((check) => finding(check, 'skipped', `Not checked: ${reason}`, cure));
  const withoutOptions = config
    ? []
    : [
        ...skipped(
          [...OF_OPTIONS, ...(url ? ['jwks'] : [])],
          'the application does not start, or its options are refused.',
        ),
        ...skipped(
          ['redis'],
          'its address is not known.',
          'Correct the errors, or set SVC_REDIS_URL for this command.',
        ),
      ];
  return [
    ...withoutOptions,
    ...(isAway('postgres') ? skipped(['tables', 'indexes'], 'there is no connection to PostgreSQL.') : []),
    ...(isAway('postgres') || isAway('redis') ? skipped(['clocks', 'distance'], 'no store has answered.') : []),
  ];
}

/** Runs checks. Their own failure, such as an error of a client of the host, does not lose the other findings. */
async function attempted(check: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [finding(check, 'error', `The check was not possible: ${messageOf(error)}`)];
  }
}

async function examined(file: string | undefined, name: string | undefined, watch: HostWatch): Promise<Examined> {
  if (file === undefined) return ofOptions(authOptionsFromEnv, file, true);
  let exported: Exported;
  try {
    exported = await exportedBy(file, name, watch);
  } catch (error) {
    if (error instanceof CommandRefused) throw error;
    // AuthModule.forRoot refuses some options while the file is loaded.
    const isKnown = error instanceof Crash || (error as Error | null)?.name === 'AuthConfigError';
    if (isKnown) return notStarted(failuresOf(error as Error), file);
    return notStarted([finding('start', 'error', `${file} cannot be loaded: ${messageOf(error)}`)], file);
  }
  if ('module' in exported) return ofApplication(exported.module, file, watch);
  const { options } = exported;
  return ofOptions(() => options, file, true);
}

/** The failures of a start, and the stores of the environment. */
async function notStarted(failures: Finding[], file: string): Promise<Examined> {
  const { found, subject, ...others } = await ofOptions(authOptionsFromEnv, file, false);
  // The stores of the environment are usually those of the application.
  const isKnown = (store: string): boolean => failures.some(({ check }) => check === store);
  return {
    ...others,
    found: [...failures, ...found.filter(({ check }) => !isKnown(check))],
    subject: isKnown('redis') ? { ...subject, redis: undefined } : subject,
  };
}

/** Starts the application, without its HTTP server, and reads its configuration. */
async function ofApplication(
  module: Parameters<typeof startHostOf>[0],
  file: string,
  watch: HostWatch,
): Promise<Examined> {
  const { context, failure, lines } = await startHostOf(module, watch);
  const production = isProduction();
  if (!context) return notStarted(failuresOf(failure!), file);
  const close = (): Promise<void> => context.close();
  let config: AuthConfig;
  try {
    config = context.get<AuthConfig>(AUTH_CONFIG, { strict: false });
  } catch {
    const message = 'The application starts, but does not import AuthModule.';
    const cure = 'Import AuthModule.forRoot() in the root module, or run: npx svc-auth init';
    return { found: [finding('start', 'error', message, cure)], subject: { file, production }, close };
  }
  const subject: Subject = {
    file,
    production,
    config,
    database: context.get(Database, { strict: false }),
    redis: redisIn(config.store) ?? context.get(OwnRedis, { strict: false }).connected,
    keyrings: context.get(Realms, { strict: false }).all.map((scope) => scope.get(Keyring)),
  };
  return { found: [finding('start', 'ok', `${file} starts.`), ...warningsIn(lines)], subject, close };
}

/** Their own checks report these. */
const REPORTED_ELSEWHERE = /^(The database has not all|Neither redis\.url|cache is not a shared|Redis does not report)/;

const warningsIn = (lines: readonly LogLine[]): Finding[] =>
  lines
    .filter(({ level, context, text }) => level !== 'log' && context === 'Auth' && !REPORTED_ELSEWHERE.test(text))
    .map(({ text }) => finding('start', 'warning', text));

/** Why the application does not start. */
function failuresOf(failure: Error): Finding[] {
  if (failure.name === 'AuthConfigError') return errorsIn(failure);
  if (failure instanceof DatabaseDown) return [databaseFailure(failure)];
  const cure = 'Start the application itself to see the whole error with its place.';
  return [finding('start', 'error', messageOf(failure), cure)];
}

/** The errors that belong to another check than `options`, by their beginning. */
const BELONGS_TO: readonly (readonly [RegExp, string])[] = [
  [/^(guards\.[^.]+\.)?((secret|previousSecrets) \(|keys\.(active|private|public|jwks)\b)/, 'keys'],
  [/^(Redis at|cache has a Redis client that could not be connected) /, 'redis'],
];

const optionError = (text: string): Finding =>
  finding(BELONGS_TO.find(([beginning]) => beginning.test(text))?.[1] ?? 'options', 'error', text);

const errorsIn = (error: unknown): Finding[] => messageOf(error).split('\n').map(optionError);

/** The configuration of options, or the errors because of which there is none. */
function resolved(read: () => AuthModuleOptions): {
  options?: AuthModuleOptions;
  config?: AuthConfig;
  errors: Finding[];
} {
  let options: AuthModuleOptions | undefined;
  try {
    options = read();
    const errors = optionErrors(options, OPTIONS);
    if (errors.length) throw new AuthConfigError(errors.join('\n'));
    return { options, config: resolveOptions(options, OPTIONS), errors: [] };
  } catch (error) {
    return { options, errors: errorsIn(error) };
  }
}

/**
 * Examines options without an application, and opens their stores: the Redis of the options, and the database of
 * `DATABASE_URL`.
 *
 * @param isAll whether the options are all options of the application; otherwise their own errors are not reported
 */
async function ofOptions(read: () => AuthModuleOptions, file: string | undefined, isAll: boolean): Promise<Examined> {
  const production = isProduction();
  const { options, config, errors } = resolved(read);
  const ofRedis = config ? redisErrors(config) : [];
  const unsafe = config ? [...ofRedis, ...unsafeValueErrors(config, production)] : [];
  const found = isAll ? [...errors, ...unsafe.map(optionError)] : [];
  const own = new OwnRedis();
  const redis = ofRedis.length ? undefined : await opened(config ?? storesIn(options), own, found);
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
  return { found, subject, options, close };
}

/** The Redis of options that are refused because of others. Without any, because a variable is invalid, that of the environment. */
function storesIn(options: AuthModuleOptions | undefined): Pick<AuthConfig, 'store' | 'redisUrl'> {
  const redisUrl = options ? options.redis?.url : process.env.SVC_REDIS_URL;
  const isUsable = redisUrl && !options?.cache && !redisErrors({ redisUrl }).length;
  return { store: undefined, redisUrl: isUsable ? redisUrl : undefined };
}

const redisIn = (store: unknown): RedisSource | StoreFactory | undefined =>
  store instanceof StoreFactory ? store : redisClientOf(store);

async function opened(
  { store, redisUrl }: Pick<AuthConfig, 'store' | 'redisUrl'>,
  own: OwnRedis,
  found: Finding[],
): Promise<RedisSource | StoreFactory | undefined> {
  if (store) return redisIn(store);
  if (redisUrl === undefined) return undefined;
  try {
    own.create(redisUrl);
    await own.open();
  } catch (error) {
    found.push(finding('redis', 'error', messageOf(error)));
  }
  return own.connected;
}

async function connected(url: string | undefined, found: Finding[]): Promise<DataSource | undefined> {
  if (!url) {
    found.push(finding('postgres', 'skipped', 'DATABASE_URL is not set, so PostgreSQL is not checked.'));
    return undefined;
  }
  try {
    const source = new DataSource({
      type: 'postgres',
      url,
      entities: authEntities,
      connectTimeoutMS: 5000,
    });
    return await source.initialize();
  } catch (error) {
    found.push(databaseFailure(error as Error));
    return undefined;
  }
}

function keyringsOf({ guards, storeTimeoutMs }: AuthConfig, found: Finding[]): (Keyring | undefined)[] {
  return guards.map((guard) => {
    const { jwks } = guard.keys;
    const remote = () => new RemoteKeys(keySetSource(jwks!), guard.algorithm, storeTimeoutMs, new Clock());
    try {
      return new Keyring(guard, jwks === undefined ? undefined : remote());
    } catch (error) {
      found.push(...errorsIn(error));
      return undefined;
    }
  });
}

const count = (findings: readonly Finding[], status: Finding['status']): number =>
  findings.filter((one) => one.status === status).length;

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
