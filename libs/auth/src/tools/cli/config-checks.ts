import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import { unknownVariables } from '../../foundation/config/env';
import { isProduction } from '../../foundation/config/option-values.policy';
import { OPTIONS, configErrors } from '../../library-options';
import { withTimeout } from '../../foundation/platform/deadline';
import type { Database } from '../../foundation/platform/database';
import type { Mailer } from '../../foundation/ports/mail';
import type { RedisSource, StoreFactory } from '../../foundation/security-store/redis-client';
import { missingStore } from '../../foundation/security-store/select-store';
import type { Keyring } from '../../identity/tokens/keyring';
import { refuseSchedule } from '../retention/prune-schedule';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'error' | 'skipped';
  readonly message: string;
  /** How to correct it, unless the message says so. */
  readonly cure?: string;
}

/** A finding without the name of its check. */
export type UnnamedFinding = Omit<Finding, 'check'>;

const verdict =
  (status: Finding['status']) =>
  (message: string, cure?: string): UnnamedFinding => ({ status, message, ...(cure !== undefined && { cure }) });

export const ok = verdict('ok');
export const warning = verdict('warning');
export const error = verdict('error');
export const skipped = verdict('skipped');

/** The findings of a check. One that has the name of another check keeps it. */
export const found = (check: string, ...verdicts: readonly UnnamedFinding[]): Finding[] =>
  verdicts.map((one) => ({ check, ...one }));

/** The findings with one for all checks that one failure prevents. */
export function collapsed(findings: readonly Finding[]): Finding[] {
  const groups = new Map<unknown, Finding[]>();
  for (const one of findings) {
    const cause = one.status === 'skipped' ? one.message : one;
    groups.set(cause, [...(groups.get(cause) ?? []), one]);
  }
  return [...groups.values()].map((all) => {
    const names = all.map(({ check }) => check).join(', ');
    return all.length === 1
      ? all[0]!
      : { ...all[0]!, check: `${all.length} checks`, message: `${all[0]!.message}\n${names}` };
  });
}

/** What the checks are about. A part that could not be read or reached is absent. */
export interface Subject {
  /** The compiled file of the root module. */
  readonly file?: string;
  readonly config?: AuthConfig;
  readonly database?: Database;
  readonly redis?: RedisSource | StoreFactory;
  /** In the order of `config.guards`. Undefined: the keys of this guard are invalid. */
  readonly keyrings?: readonly (Keyring | undefined)[];
  /** The address of the running application. */
  readonly url?: string;
}

type WithOptions = Subject & { readonly config: AuthConfig };

/** Milliseconds for one answer of another server. */
export const ANSWER_MS = 5000;

/** The version of Node.js. */
export function runtimeChecks(): Finding[] {
  const { version, features } = process;
  // Nest 12 consists of ES modules, which the library requires.
  if ((features as { require_module?: boolean }).require_module) return found('node', ok(`Node.js ${version}.`));
  const message = `Node.js ${version} cannot require ES modules, and Nest 12 consists of them.`;
  return found('node', warning(message, 'Use Node.js 20.19, 22.12 or later.'));
}

/** The checks of the options and of what they name outside the stores, in the order of the output. */
export const OPTION_CHECKS: Readonly<
  Record<string, (subject: WithOptions) => UnnamedFinding[] | Promise<UnnamedFinding[]>>
> = {
  options: ({ config }) => [scheduleFault(config) ?? ok(`Guards: ${namesOf(config).join(', ')}.`)],
  variables: ({ config }) => unknownVariables(namesOf(config), OPTIONS, process.env).map((text) => warning(text)),
  keys: keyChecks,
  jwks: publishedKeys,
  cookies: ({ config }) => config.guards.flatMap(cookieChecks),
  proxy: proxyChecks,
  mail: mailChecks,
  production: productionChecks,
};

function scheduleFault({ retention: { schedule } }: AuthConfig): UnnamedFinding | undefined {
  try {
    if (schedule) refuseSchedule(schedule);
    return undefined;
  } catch (failure) {
    return error((failure as Error).message);
  }
}

const namesOf = ({ guards }: AuthConfig): string[] => guards.map(({ guard }) => guard);

/** Runs a check of each guard whose keys are valid. */
const eachKeyring = (
  { config, keyrings = [] }: WithOptions,
  check: (keyring: Keyring, guard: GuardConfig) => Promise<UnnamedFinding>,
): Promise<UnnamedFinding[]> =>
  Promise.all(keyrings.flatMap((keyring, i) => (keyring ? [check(keyring, config.guards[i]!)] : [])));

function keyChecks(subject: WithOptions): Promise<UnnamedFinding[]> {
  return eachKeyring(subject, async (keyring, { guard, secret = '', previousSecrets }) => {
    const { algorithm, activeKid, remote } = keyring;
    const of = `The guard "${guard}" uses ${algorithm}`;
    if (remote) {
      const read = await withTimeout('The key set', ANSWER_MS, remote.hasAny()).catch((failure: Error) => failure);
      if (read === true) return ok(`${of} with ${remote.keys.size} keys of keys.jwks.`);
      return error(
        `${of}, and keys.jwks ${read === false ? `has no key for ${algorithm}` : 'cannot be read'}.`,
        'Check keys.jwks (SVC_JWKS_URL): its issuer must run, and sign with this algorithm.',
      );
    }
    if (algorithm === 'HS256') {
      const former = previousSecrets.length ? `, and ${previousSecrets.length} former secrets` : '';
      const hex = /^[\da-f]+$/i.test(secret) ? `, which is hexadecimal and has at most ${secret.length * 4} bits` : '';
      return ok(`${of} with a secret of ${secret.length} characters${hex}${former}.`);
    }
    const { keys } = keyring.jwks();
    return ok(
      keyring.canSign
        ? `${of}. The key "${activeKid}" signs, and ${keys.length} public keys verify.`
        : `${of}. It only verifies, with ${keys.length} public keys.`,
    );
  });
}

interface PublishedKey {
  readonly kid?: string;
  readonly n?: string;
  readonly x?: string;
}

async function keySetAt(address: string): Promise<readonly PublishedKey[]> {
  const answer = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const { keys } = (await answer.json()) as { keys?: PublishedKey[] };
  if (!Array.isArray(keys)) throw new Error('the answer is no key set');
  return keys;
}

/** Whether the running application publishes the key with which this configuration signs. */
async function publishedKeys(subject: WithOptions): Promise<UnnamedFinding[]> {
  const { url } = subject;
  if (url === undefined) return [];
  return eachKeyring(subject, async (keyring, { path }) => {
    const address = `${url.replace(/\/+$/, '')}/${path}/jwks`;
    try {
      return comparedKeys(keyring, address, await keySetAt(address));
    } catch (failure) {
      const { message, cause } = failure as Error & { cause?: Error };
      return error(
        `${address} cannot be read: ${cause?.message || message}`,
        'Check --url, which ends with the global prefix of the application, if it has one, and the option path.',
      );
    }
  });
}

function comparedKeys(keyring: Keyring, address: string, keys: readonly PublishedKey[]): UnnamedFinding {
  const { algorithm, activeKid } = keyring;
  const isHmac = algorithm === 'HS256';
  if (isHmac === keys.length > 0)
    return error(
      isHmac
        ? `${address} lists ${keys.length} keys, but this configuration signs with a secret (HS256).`
        : `${address} lists no key, as with HS256, but this configuration uses ${algorithm}.`,
      'Deploy the same algorithm (SVC_ALGORITHM) and the same keys on all nodes.',
    );
  const own = keyring.jwks().keys;
  const [active, published] = [own, keys].map((set: readonly PublishedKey[]) =>
    set.find(({ kid }) => kid === activeKid),
  );
  if (active) {
    if (published?.n === active.n && published?.x === active.x) return ok(`${address} lists the key "${activeKid}".`);
    return error(
      `${address} does not list the key "${activeKid}" of this configuration.`,
      'Deploy the same keys.active, keys.private and keys.public on all nodes: svc-auth keygen --rotate prints the steps.',
    );
  }
  // A key set without the active name is that of a service that only verifies.
  if (isHmac || keys.some(({ kid }) => own.some((known) => known.kid === kid)))
    return ok(`${address} lists ${keys.length} keys.`);
  return error(`${address} lists no key that this configuration knows.`, 'Correct keys.public or keys.jwks.');
}

function cookieChecks({ guard, cookieMode, refreshTokenFrom, cookie }: GuardConfig): UnnamedFinding[] {
  if (!cookieMode && refreshTokenFrom === 'mode') return [];
  const plain = cookie.origins.filter((origin) => origin.startsWith('http:') && !LOOPBACK.test(origin));
  const pages = cookie.origins.length ? `pages of ${cookie.origins.join(', ')}` : 'pages of the own origin of the API';
  const insecure = warning(
    'cookie.secure (SVC_COOKIE_SECURE) is false: the refresh cookie is sent without TLS, too.',
    'Use it in development only. In production the application does not start.',
  );
  return [
    ok(`The guard "${guard}" accepts the cookie ${cookie.refreshName} from ${pages}.`),
    ...(cookie.secure ? [] : [insecure]),
    ...plain.map((origin) =>
      warning(
        `cookie.origins (SVC_COOKIE_ORIGINS) has ${origin}, whose pages can be changed on the network.`,
        'Serve the page over https, and list that origin.',
      ),
    ),
  ];
}

const LOOPBACK = /^http:\/\/(localhost|127\.|\[::1\])/;

/** The setting is made where the server is created, so the text of that file is searched. */
function proxyChecks({ file, config: { verifyOnly, guards } }: WithOptions): UnnamedFinding[] {
  if (verifyOnly || !file) return [];
  if (guards.every(({ hooks }) => hooks.rateLimitKey)) return [ok('hooks.rateLimitKey identifies the clients.')];
  const main = join(dirname(file), 'main.js');
  const unknown = 'The setting "trust proxy" was not found, because there is no main.js beside the root module.';
  if (!existsSync(main)) return [skipped(unknown, PROXY_CURE)];
  if (setsProxy(main)) return [ok('main.js sets "trust proxy".')];
  const unset = 'main.js does not set "trust proxy". Behind a proxy, all clients share the rate limits of its address.';
  return [(isProduction() ? warning : skipped)(unset, PROXY_CURE)];
}

/** A setting, and the value that turns it off: `app.set('trust proxy', false)`, `trustProxy: false`, `app.disable('trust proxy')`. */
const PROXY_SETTING = /(disable\(\s*['"`])?trust.?proxy['"`\]]*\s*(?:[,:=]\s*(false|0|null|undefined)\b)?/gi;

/** Whether a file sets it, or a file of the host that it loads. */
function setsProxy(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file) || !existsSync(file) || !statSync(file).isFile()) return false;
  seen.add(file);
  // A comment begins at a blank, a semicolon, a comma or a bracket; the slashes of a URL do not.
  const code = readFileSync(file, 'utf8').replaceAll(/\/\*[^]*?\*\/|(^|[\s;,(){}])\/\/.*$/gm, '$1');
  if ([...code.matchAll(PROXY_SETTING)].some(([, disabled, off]) => !disabled && !off)) return true;
  const loaded = [...code.matchAll(/(?:require\(|import\(|from|import)\s*['"](\.[^'"]+)['"]/g)];
  return loaded.some(([, path = '']) =>
    [path, `${path}.js`, `${path}/index.js`].some((name) => setsProxy(join(dirname(file), name), seen)),
  );
}

const PROXY_CURE =
  "Behind a proxy: app.set('trust proxy', 1) on Express, new FastifyAdapter({ trustProxy: … }) on Fastify. Without a proxy " +
  'nothing is needed.';

async function mailChecks({ config: { guards } }: WithOptions): Promise<UnnamedFinding[]> {
  const mailers = new Set(guards.flatMap(({ mail }) => mail.mailer ?? []));
  const check = async (mailer: Mailer): Promise<UnnamedFinding> => {
    const cure = 'Implement verify() in your Mailer, to check it here.';
    if (!mailer.verify) return skipped(`${mailer.constructor.name} has no verify().`, cure);
    try {
      await withTimeout('The mail server', ANSWER_MS, mailer.verify());
      return ok('The mail server accepts the connection and the account.');
    } catch (failure) {
      return error(
        `No mail can be sent: ${(failure as Error).message}`,
        'Check the host, the port, the user and the password of the transport in mail.mailer.',
      );
    }
  };
  return Promise.all([...mailers].map(check));
}

/** What would refuse the start in production, while the process is not in production. */
function productionChecks({ config }: WithOptions): UnnamedFinding[] {
  if (isProduction()) return [ok('NODE_ENV is production: its rules applied.')];
  const now = configErrors(config, false);
  const later = configErrors(config, true).filter((text) => !now.includes(text));
  const stores = config.store || config.redis.url ? [] : [`${missingStore()}.`];
  const texts = [...later, ...stores];
  if (!texts.length) return [ok('NODE_ENV is not production; its rules find nothing more.')];
  return [warning(`NODE_ENV is not production. There the application would not start:\n${texts.join('\n')}`)];
}
