import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import type { AuthModuleOptions } from '../../foundation/config/auth-options';
import { redisErrors } from '../../foundation/config/url-checks';
import { Clock } from '../../foundation/platform/clock';
import { Database } from '../../foundation/platform/database';
import { Realms } from '../../foundation/realm/realm';
import { OwnRedis } from '../../foundation/security-store/own-redis';
import { redisClientOf } from '../../foundation/security-store/first-connection';
import { type RedisSource, StoreFactory } from '../../foundation/security-store/redis-client';
import { Keyring } from '../../identity/tokens/keyring';
import { RemoteKeys, keySetSource } from '../../identity/tokens/remote-keys';
import {
  type CheckedOptions,
  authOptionsFromEnv,
  checkedOptions,
  configErrors,
  keyErrors,
  valueErrors,
} from '../../library-options';
import { closed } from '../console/application';
import { CommandRefused } from '../console/command';
import { distanceChecks } from './distance-checks';
import {
  type Finding,
  OPTION_CHECKS,
  type Subject,
  type UnnamedFinding,
  collapsed,
  error,
  found,
  ok,
  runtimeChecks,
  skipped,
  warning,
} from './config-checks';
import { DatabaseDown, type Exported, type LogLine, exportedBy, fileOfHost, startHostOf } from './host';
import { Crash, HostWatch, messageOf } from './host-watch';
import { Secrets } from './secrets';
import { connected, databaseChecks, databaseFailure, redisChecks, storeFindings } from './store-checks';

export interface DoctorArguments {
  readonly file?: string;
  readonly export?: string;
  readonly url?: string;
  readonly json?: boolean;
}

/** What was found before the checks, what they are about, and how to release it. */
interface Examined {
  readonly before: Finding[];
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
    writeSync(1, printed(ENDED));
  });
  try {
    const findings = await withoutOutput(async () => examine(await examined(file, name, watch), url, watch));
    process.stdout.write(printed(findings));
    return exitCode(findings);
  } catch (failure) {
    throw new CommandRefused(new Secrets().hideIn(messageOf(failure)));
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

const ENDED = found(
  'start',
  error(
    'The application ended the process before the checks were over.',
    'Remove process.exit() from its start, or throw an error instead.',
  ),
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

async function examine(host: Examined, url: string | undefined, watch: HostWatch): Promise<Finding[]> {
  const { before, options, close } = host;
  const subject = { ...host.subject, url };
  const { config, database, redis } = subject;
  const findings = [...runtimeChecks(), ...before];
  for (const [check, run] of Object.entries({ ...(config && OPTION_CHECKS), ...STORE_CHECKS }))
    findings.push(...(await attempted(check, async () => run({ ...subject, config: config! }))));
  try {
    await closed({ close: async () => void (await close()) });
  } catch (failure) {
    const message = `The application does not close without an error: ${messageOf(failure)}`;
    findings.push(...found('start', warning(message, 'Correct its hooks of the shutdown (onApplicationShutdown).')));
  }
  findings.push(...notRun(findings, subject));
  // Node reports a promise without a handler after the work that is due now.
  await setImmediate();
  findings.push(...watch.crashes.flatMap((crash) => failuresOf(crash)));
  const isRefused = before.some(({ check, status }) => check === 'options' && status === 'error');
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

const STORE_CHECKS: Readonly<Record<string, (subject: Subject) => Promise<Finding[]>>> = {
  postgres: databaseChecks,
  redis: redisChecks,
  distance: distanceChecks,
};

/** The checks that could not run, each with the reason. A check that does not apply to the application has no finding. */
function notRun(findings: readonly Finding[], { config, url }: Subject): Finding[] {
  const isAway = (store: string): boolean =>
    findings.some(({ check, status }) => check === store && (status === 'error' || status === 'skipped'));
  const named = Object.keys(OPTION_CHECKS).filter((name) => name !== 'options' && (name !== 'jwks' || url));
  const refused = 'the application does not start, or its options are refused.';
  const reasons: [isGiven: boolean, checks: string[], reason: string, cure?: string][] = [
    [!config, named, refused],
    [
      !config,
      ['redis'],
      'its address is not known.',
      `Correct the errors${process.env.REDIS_URL ? '' : ', or set REDIS_URL for this command'}.`,
    ],
    [isAway('postgres'), ['tables', 'indexes', 'hashes', 'emails'], 'there is no connection to PostgreSQL.'],
    [isAway('postgres') || isAway('redis'), ['clocks', 'distance'], 'no store has answered.'],
  ];
  const absent = (checks: string[]) => checks.filter((name) => !findings.some(({ check }) => check === name));
  return reasons
    .filter(([isGiven]) => isGiven)
    .flatMap(([, checks, reason, cure]) =>
      absent(checks).flatMap((check) => found(check, skipped(`Not checked: ${reason}`, cure))),
    );
}

/** Runs a check. Its own failure, such as an error of a client of the host, does not lose the other findings. */
async function attempted(check: string, run: () => Promise<readonly (UnnamedFinding | Finding)[]>): Promise<Finding[]> {
  try {
    return found(check, ...(await run()));
  } catch (failure) {
    return found(check, error(`The check was not possible: ${messageOf(failure)}`));
  }
}

async function examined(file: string | undefined, name: string | undefined, watch: HostWatch): Promise<Examined> {
  if (file === undefined) return ofOptions(authOptionsFromEnv, file, true);
  let exported: Exported;
  try {
    exported = await exportedBy(file, name, watch);
  } catch (failure) {
    if (failure instanceof CommandRefused) throw failure;
    // AuthModule.forRoot refuses some options while the file is loaded.
    const isKnown = failure instanceof Crash || (failure as Error | null)?.name === 'AuthConfigError';
    const unknown = error(`${file} cannot be loaded: ${messageOf(failure)}`);
    return notStarted(isKnown ? failuresOf(failure as Error) : found('start', unknown), file);
  }
  if ('module' in exported) return ofApplication(exported.module, file, watch);
  const { options } = exported;
  return ofOptions(() => options, file, true);
}

/** The failures of a start, and the stores of the environment. */
async function notStarted(failures: Finding[], file: string): Promise<Examined> {
  const { before, subject, ...others } = await ofOptions(authOptionsFromEnv, file, false);
  // The stores of the environment are usually those of the application.
  const isKnown = (store: string): boolean => failures.some(({ check }) => check === store);
  return {
    ...others,
    before: [...failures, ...before.filter(({ check }) => !isKnown(check))],
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
  if (!context) return notStarted(failuresOf(failure!), file);
  const close = (): Promise<void> => context.close();
  let config: AuthConfig;
  try {
    config = context.get<AuthConfig>(AUTH_CONFIG, { strict: false });
  } catch {
    const message = 'The application starts, but does not import AuthModule.';
    const cure =
      'Import AuthModule.forRoot() in the root module, or run: npx svc-auth init. If it is imported, the application and ' +
      'this command use two copies of the library: npm ls @svc/auth';
    return { before: found('start', error(message, cure)), subject: { file }, close };
  }
  const subject: Subject = {
    file,
    config,
    database: context.get(Database, { strict: false }),
    redis: redisIn(config.store) ?? context.get(OwnRedis, { strict: false }).connected,
    keyrings: context.get(Realms, { strict: false }).all.map((scope) => scope.get(Keyring)),
  };
  return { before: found('start', ok(`${file} starts.`), ...warningsIn(lines)), subject, close };
}

/** Their own checks report these. */
const REPORTED_ELSEWHERE = /^(The database has not all|Neither redis\.url|Redis does not report)/;

const warningsIn = (lines: readonly LogLine[]): UnnamedFinding[] =>
  lines
    .filter(({ level, context, text }) => level !== 'log' && context === 'Auth' && !REPORTED_ELSEWHERE.test(text))
    .map(({ text }) => warning(text));

/** Why the application does not start. */
function failuresOf(failure: Error): Finding[] {
  if (failure.name === 'AuthConfigError') return errorsIn(failure);
  if (failure instanceof DatabaseDown) return databaseFailure(failure);
  const cure = 'Start the application itself to see the whole error with its place.';
  return found('start', error(messageOf(failure), cure));
}

/** The errors that belong to another check than `options`, by their beginning. */
const BELONGS_TO: readonly (readonly [RegExp, string])[] = [
  [/^(guards\.[^.]+\.)?((secret|previousSecrets) \(|keys( has|\.(active|private|public|jwks)\b))/, 'keys'],
  [/^(Redis at|cache has a Redis client that could not be connected) /, 'redis'],
];

const optionErrorsIn = (texts: readonly string[]): Finding[] =>
  texts.flatMap((text) => found(BELONGS_TO.find(([beginning]) => beginning.test(text))?.[1] ?? 'options', error(text)));

const errorsIn = (failure: unknown): Finding[] => optionErrorsIn(messageOf(failure).split('\n'));

interface Resolved extends Partial<CheckedOptions> {
  readonly options?: AuthModuleOptions;
}

/** The configuration of options, and their errors: because of some of them there is none. */
function resolved(read: () => AuthModuleOptions, errorsOf: typeof configErrors): Resolved & { found: Finding[] } {
  let options: AuthModuleOptions | undefined;
  try {
    options = read();
    const { config, errors } = checkedOptions(options, errorsOf);
    return { options, config, found: optionErrorsIn(errors) };
  } catch (failure) {
    return { options, found: errorsIn(failure) };
  }
}

/** What the options do not show. */
const UNSEEN = {
  file: "the start itself: its tables, its UserProvider, its other modules, and Redis' answers to the library.",
  environment: 'the options that the code sets, such as users, mail.mailer and hooks, and what they need.',
};

/**
 * Examines options without an application, and opens their stores: the Redis of the options, and the database of
 * `DATABASE_URL`.
 *
 * @param isAll whether the options are all options of the application; otherwise their own errors are not reported. Without
 * a configuration of the application, Redis can be that of `REDIS_URL`
 */
async function ofOptions(read: () => AuthModuleOptions, file: string | undefined, isAll: boolean): Promise<Examined> {
  const { options, config, found: errors } = resolved(read, file && isAll ? configErrors : valueErrors);
  const unseen = skipped(
    `Not checked here: ${file ? UNSEEN.file : UNSEEN.environment}`,
    'Name the compiled root module of the application.',
  );
  const before = isAll ? [...errors, ...found('start', unseen)] : [];
  const own = new OwnRedis();
  const redis = await opened({ options, config }, own, before, isAll && config ? undefined : process.env.REDIS_URL);
  const postgres = await connected(process.env.DATABASE_URL, before);
  const subject: Subject = {
    file,
    config: isAll ? config : undefined,
    redis,
    database: postgres && new Database(postgres.source, config?.storeTimeoutMs ?? 5000, config?.preparedStatements),
    keyrings: config && isAll ? keyringsOf(config, before) : undefined,
  };
  const close = async (): Promise<void> => {
    await own.onApplicationShutdown();
    await postgres?.pool.end();
  };
  return { before, subject, options, close };
}

const redisIn = (store: unknown): RedisSource | StoreFactory | undefined =>
  store instanceof StoreFactory ? store : redisClientOf(store);

/** The Redis of options, also of those that are refused because of others. Without any, that of the environment, or the usual one. */
async function opened(
  { options, config }: Resolved,
  own: OwnRedis,
  before: Finding[],
  usual?: string,
): Promise<RedisSource | StoreFactory | undefined> {
  if (config?.store) {
    const findings = await storeFindings(config).catch(errorsIn);
    before.push(...findings);
    return findings.some(({ status }) => status === 'error') ? undefined : redisIn(config.store);
  }
  const { SVC_REDIS_URL: url, SVC_REDIS_USERNAME: username, SVC_REDIS_PASSWORD: password } = process.env;
  const given = (options ? options.redis : { url, username, password }) ?? {};
  const redis = { ...given, url: (options?.cache ? undefined : given.url) ?? usual };
  if (!redis.url || redisErrors({ redis }).length) return undefined;
  try {
    own.create({ ...redis, url: redis.url });
    await own.open();
  } catch (failure) {
    before.push(...found('redis', error(messageOf(failure))));
  }
  return own.connected;
}

function keyringsOf(config: AuthConfig, before: Finding[]): (Keyring | undefined)[] {
  const { guards, storeTimeoutMs } = config;
  before.push(...optionErrorsIn(keyErrors(config)));
  return guards.map((guard) => {
    const { jwks } = guard.keys;
    const remote = () => new RemoteKeys(keySetSource(jwks!), guard.algorithm, storeTimeoutMs, new Clock());
    try {
      return new Keyring(guard, jwks === undefined ? undefined : remote());
    } catch {
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
  const lines = collapsed(findings).map(({ check, status, message, cure }) => {
    const indent = ' '.repeat(20);
    const text = [...message.split('\n'), ...(cure ? [`Cure: ${cure}`] : [])].join(`\n${indent}`);
    return `${status.padEnd(9)}${check.padEnd(11)}${text}`;
  });
  const [errors, warnings] = [count(findings, 'error'), count(findings, 'warning')];
  return `Checked: ${about}\n\n${lines.join('\n')}\n\nErrors: ${errors}. Warnings: ${warnings}.\n`;
}
