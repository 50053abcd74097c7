import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import { unknownVariables } from '../../foundation/config/env';
import { unsafeValueErrors } from '../../foundation/config/unsafe-values';
import { keySetErrors, mailErrors } from '../../foundation/config/url-checks';
import { FEATURES } from '../../features';
import { OPTIONS } from '../../library-options';
import { withTimeout } from '../../foundation/platform/deadline';
import type { Database } from '../../foundation/platform/database';
import type { RedisSource, StoreFactory } from '../../foundation/security-store/redis-client';
import type { Keyring } from '../../identity/tokens/keyring';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'error' | 'skipped';
  readonly message: string;
  /** How to correct it, unless the message says so. */
  readonly cure?: string;
}

/** What the checks are about. A part that could not be read or reached is absent. */
export interface Subject {
  /** The compiled file of the root module. */
  readonly file?: string;
  readonly production: boolean;
  readonly config?: AuthConfig;
  readonly database?: Database;
  readonly redis?: RedisSource | StoreFactory;
  /** In the order of `config.guards`. Undefined: the keys of this guard are invalid. */
  readonly keyrings?: readonly (Keyring | undefined)[];
}

/** Milliseconds for one answer of another server. */
export const ANSWER_MS = 5000;

/** Makes a finding. An undefined cure is left out. */
export const finding = (check: string, status: Finding['status'], message: string, cure?: string): Finding => ({
  check,
  status,
  message,
  ...(cure !== undefined && { cure }),
});

/** The version of Node.js. */
export function runtimeChecks(): Finding[] {
  const { version, features } = process;
  // Nest 12 consists of ES modules, which the library requires.
  const canRequireModules = (features as { require_module?: boolean }).require_module === true;
  return [
    canRequireModules
      ? finding('node', 'ok', `Node.js ${version}.`)
      : finding(
          'node',
          'warning',
          `Node.js ${version} cannot require ES modules, and Nest 12 consists of them.`,
          'Use Node.js 20.19, 22.12 or later.',
        ),
  ];
}

/** The checks of the options and of what they name outside the stores. */
export async function configChecks(subject: Subject, url: string | undefined): Promise<Finding[]> {
  const { config } = subject;
  if (!config) return [];
  return [
    finding('options', 'ok', `Guards: ${config.guards.map(({ guard }) => guard).join(', ')}.`),
    ...variables(config),
    ...(await keyChecks(subject)),
    ...(url === undefined ? [] : await publishedKeys(subject, url)),
    ...config.guards.flatMap((guard) => cookieChecks(guard)),
    ...proxyChecks(subject, config),
    ...(await mailChecks(config)),
    ...productionChecks(subject, config),
  ];
}

const variables = ({ guards }: AuthConfig): Finding[] =>
  unknownVariables(
    guards.map(({ guard }) => guard),
    OPTIONS,
    process.env,
  ).map((text) => finding('variables', 'warning', text));

/** Runs a check of each guard whose keys are valid. */
const eachKeyring = (
  { config, keyrings = [] }: Subject,
  check: (keyring: Keyring, guard: GuardConfig) => Promise<Finding>,
): Promise<Finding[]> =>
  Promise.all(keyrings.flatMap((keyring, i) => (keyring ? [check(keyring, config!.guards[i]!)] : [])));

const keyChecks = (subject: Subject): Promise<Finding[]> =>
  eachKeyring(subject, async (keyring, { guard, secret = '', previousSecrets }) => {
    const { algorithm, activeKid, remote } = keyring;
    const of = `The guard "${guard}" uses ${algorithm}`;
    if (remote) {
      const read = await withTimeout('The key set', ANSWER_MS, remote.hasAny()).catch((error: Error) => error);
      if (read === true) return finding('keys', 'ok', `${of} with ${remote.keys.size} keys of keys.jwks.`);
      return finding(
        'keys',
        'error',
        `${of}, and keys.jwks ${read === false ? `has no key for ${algorithm}` : 'cannot be read'}.`,
        'Check keys.jwks (SVC_JWKS_URL): its issuer must run, and sign with this algorithm.',
      );
    }
    if (algorithm === 'HS256') {
      const former = previousSecrets.length ? `, and ${previousSecrets.length} former secrets` : '';
      return finding('keys', 'ok', `${of} with a secret of ${Buffer.byteLength(secret) * 8} bits${former}.`);
    }
    const { keys } = keyring.jwks();
    return keyring.canSign
      ? finding('keys', 'ok', `${of}. The key "${activeKid}" signs, and ${keys.length} public keys verify.`)
      : finding('keys', 'ok', `${of}. It only verifies, with ${keys.length} public keys.`);
  });

/** Whether the running application publishes the key with which this configuration signs. */
const publishedKeys = (subject: Subject, base: string): Promise<Finding[]> =>
  eachKeyring(subject, async (keyring, { path }) => {
    const address = `${base.replace(/\/+$/, '')}/${path}/jwks`;
    try {
      const answer = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const { keys } = (await answer.json()) as { keys?: { kid?: string; n?: string; x?: string }[] };
      if (!Array.isArray(keys)) throw new Error('the answer is no key set');
      const own = keyring.jwks().keys.find(({ kid }) => kid === keyring.activeKid);
      const isHmac = keyring.algorithm === 'HS256';
      if (isHmac === keys.length > 0)
        return finding(
          'jwks',
          'error',
          isHmac
            ? `${address} lists ${keys.length} keys, but this configuration signs with a secret (HS256).`
            : `${address} lists no key, as with HS256, but this configuration uses ${keyring.algorithm}.`,
          'Deploy the same algorithm (SVC_ALGORITHM) and the same keys on all nodes.',
        );
      const known = keyring.jwks().keys.map(({ kid }) => kid);
      // A key set without the active name is that of a service that only verifies.
      if (!own)
        return isHmac || keys.some(({ kid }) => known.includes(kid))
          ? finding('jwks', 'ok', `${address} lists ${keys.length} keys.`)
          : finding(
              'jwks',
              'error',
              `${address} lists no key that this configuration knows.`,
              'Correct keys.public or keys.jwks.',
            );
      const published = keys.find(({ kid }) => kid === keyring.activeKid);
      if (published && published.n === own.n && published.x === own.x)
        return finding('jwks', 'ok', `${address} lists the key "${keyring.activeKid}".`);
      return finding(
        'jwks',
        'error',
        `${address} does not list the key "${keyring.activeKid}" of this configuration.`,
        'Deploy the same keys.active, keys.private and keys.public on all nodes: svc-auth keygen --rotate prints the steps.',
      );
    } catch (error) {
      const { message, cause } = error as Error & { cause?: Error };
      const reason = cause?.message || message;
      return finding('jwks', 'error', `${address} cannot be read: ${reason}`, 'Check --url and the option path.');
    }
  });

function cookieChecks({ guard, cookieMode, refreshTokenFrom, cookie }: GuardConfig): Finding[] {
  if (!cookieMode && refreshTokenFrom === 'mode') return [];
  const plain = cookie.origins.filter((origin) => origin.startsWith('http:') && !LOOPBACK.test(origin));
  const pages = cookie.origins.length ? `pages of ${cookie.origins.join(', ')}` : 'pages of the own origin of the API';
  return [
    finding('cookies', 'ok', `The guard "${guard}" accepts the cookie ${cookie.refreshName} from ${pages}.`),
    ...(cookie.secure
      ? []
      : [
          finding(
            'cookies',
            'warning',
            'cookie.secure (SVC_COOKIE_SECURE) is false: the refresh cookie is sent without TLS, too.',
            'Use it in development only. In production the application does not start.',
          ),
        ]),
    ...plain.map((origin) =>
      finding(
        'cookies',
        'warning',
        `cookie.origins (SVC_COOKIE_ORIGINS) has ${origin}, whose pages can be changed on the network.`,
        'Serve the page over https, and list that origin.',
      ),
    ),
  ];
}

const LOOPBACK = /^http:\/\/(localhost|127\.|\[::1\])/;

/** The setting is made where the server is created, so the text of that file is searched. */
function proxyChecks({ file, production }: Subject, { routes, guards }: AuthConfig): Finding[] {
  if (!routes || !file) return [];
  if (guards.every(({ hooks }) => hooks.rateLimitKey))
    return [finding('proxy', 'ok', 'hooks.rateLimitKey identifies the clients.')];
  const main = join(dirname(file), 'main.js');
  if (!existsSync(main)) {
    const message = 'The setting "trust proxy" was not found, because there is no main.js beside the root module.';
    return [finding('proxy', 'skipped', message, PROXY_CURE)];
  }
  if (setsProxy(main)) return [finding('proxy', 'ok', 'main.js sets "trust proxy".')];
  return [
    finding(
      'proxy',
      production ? 'warning' : 'skipped',
      'main.js does not set "trust proxy". Behind a proxy, all clients share the rate limits of its address.',
      PROXY_CURE,
    ),
  ];
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

async function mailChecks({ guards }: AuthConfig): Promise<Finding[]> {
  const mailers = new Set(guards.flatMap(({ mail }) => mail.mailer ?? []));
  return Promise.all(
    [...mailers].map(async (mailer): Promise<Finding> => {
      if (!mailer.verify) {
        const cure = 'Implement verify() in your Mailer, to check it here.';
        return finding('mail', 'skipped', `${mailer.constructor.name} has no verify().`, cure);
      }
      try {
        await withTimeout('The mail server', ANSWER_MS, mailer.verify());
        return finding('mail', 'ok', 'The mail server accepts the connection and the account.');
      } catch (error) {
        return finding(
          'mail',
          'error',
          `No mail can be sent: ${(error as Error).message}`,
          'Check the host, the port, the user and the password of the transport in mail.mailer.',
        );
      }
    }),
  );
}

/** What would refuse the start in production, while the process is not in production. */
function productionChecks({ production }: Subject, config: AuthConfig): Finding[] {
  if (production) return [finding('production', 'ok', 'NODE_ENV is production: its rules applied.')];
  const errorsFor = (inProduction: boolean): string[] => [
    ...unsafeValueErrors(config, inProduction),
    ...keySetErrors(config, inProduction),
    ...config.guards.flatMap((guard) =>
      guard.isDefault && config.routes ? mailErrors(guard, config.encryption, inProduction, FEATURES) : [],
    ),
  ];
  const now = errorsFor(false);
  const later = errorsFor(true).filter((text) => !now.includes(text));
  const stores = config.store || config.redisUrl ? [] : ['Neither redis.url (SVC_REDIS_URL) nor cache is set.'];
  const texts = [...later, ...stores];
  if (!texts.length) return [finding('production', 'ok', 'NODE_ENV is not production; its rules find nothing more.')];
  const message = `NODE_ENV is not production. There the application would not start:\n${texts.join('\n')}`;
  return [finding('production', 'warning', message)];
}
