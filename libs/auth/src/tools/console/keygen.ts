import { type KeyPairKeyObjectResult, generateKeyPairSync } from 'node:crypto';
import { CORE } from '../../foundation/config/core-options';
import { optionsFromEnv } from '../../foundation/config/env';
import { optionsOf } from '../../foundation/config/option-table';
import { KEY_OPTIONS } from '../../identity/tokens/key.options';
import { newSecret } from '../../foundation/platform/crypto';
import { type CommandDeclaration, print, CommandRefused } from './command';

/** Generates a key pair for ES256 or RS256 and prints it. It writes no file. */
export const KEYGEN: CommandDeclaration = {
  description: 'print a new key pair and its env lines; nothing is written',
  options: {
    '--algorithm <name>': 'ES256 or RS256 (ES256)',
    '--kid <kid>': 'the name of the key (a random one)',
    '--rotate': 'also print the steps to replace the running key',
  },
  run: async ({ algorithm = 'ES256', kid = '', rotate }) => {
    const key = newKey(String(algorithm), String(kid));
    print(keyText(key) + (rotate ? rotationText(key, runningKey()) : ''));
  },
};

/** A new key pair with its algorithm and `kid`. */
interface NewKey {
  readonly algorithm: string;
  readonly kid: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
  /** PEM, SPKI. */
  readonly publicKey: string;
}

const GENERATE: ReadonlyMap<string, () => KeyPairKeyObjectResult> = new Map([
  ['ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  // As strong as P-256: 128 bits (NIST SP 800-57 part 1, table 2).
  ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 3072 })],
]);

/** Generates a key pair. @throws CommandRefused for an algorithm without key pairs, or a kid with characters unsafe in env files */
function newKey(algorithm: string, kid: string): NewKey {
  const generate = GENERATE.get(algorithm);
  if (!generate)
    throw new CommandRefused(`"${algorithm}" is not supported. Use one of: ${[...GENERATE.keys()].join(', ')}.`);
  if (!/^[\w.:/@+=~-]*$/.test(kid))
    throw new CommandRefused(`"${kid}" cannot be a kid. Use letters, digits and _ . : / @ + = ~ - only.`);
  const { privateKey, publicKey } = generate();
  return {
    algorithm,
    kid: kid || `k${newSecret().slice(0, 8)}`,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

// One line with \n escapes. Env readers unescape it inside double quotes, and the library unescapes it otherwise.
const quoted = (text: string): string => JSON.stringify(text);

/** The key pair as PEMs and as lines of an env file. */
const keyText = ({ algorithm, kid, privateKey, publicKey }: NewKey): string => `${privateKey}
${publicKey}
SVC_ALGORITHM=${algorithm}
SVC_ACTIVE_KID=${kid}
SVC_PRIVATE_KEY=${quoted(privateKey)}
SVC_PUBLIC_KEY=${quoted(publicKey)}
`;

/** The current signing key, as far as the environment contains it. */
function runningKey(): Partial<NewKey> {
  const { algorithm, keys = {} } = optionsFromEnv(optionsOf([CORE, { options: KEY_OPTIONS }]), process.env);
  const [[kid, publicKey] = [keys.active, undefined]] = Object.entries(keys.public ?? {});
  return { algorithm, kid, publicKey };
}

/**
 * The steps to replace the running key by a new key without invalidating tokens.
 *
 * @throws CommandRefused if the `kid` is in use, because a `kid` must identify one key
 */
function rotationText(key: NewKey, running: Partial<NewKey>): string {
  if (key.kid === running.kid) {
    throw new CommandRefused(
      `"${key.kid}" names the running key. Give the new one another --kid, or omit --kid for a random one.`,
    );
  }
  const { kid = 'RUNNING_KID', publicKey = 'RUNNING_PUBLIC_KEY' } = running;
  return `${otherAlgorithm(key, running)}
Rotation, with the tokens of both keys valid meanwhile. Refresh tokens are not signed; no session ends.

1. Add the new public key beside the running one, wherever tokens are verified, and deploy. Leave SVC_* as it is:

     const env = authOptionsFromEnv();
     ${publicEntry(key.kid, key.publicKey)}

2. Wait an hour, for verifiers that cache the JWKS. Then sign with the new key: set the four SVC_ lines above.
   In the same deployment, keep the running key's public entry:

     ${publicEntry(kid, publicKey)}

3. Wait until the last token signed with ${quoted(kid)} has expired: at least SVC_ACCESS_TTL + SVC_LEEWAY seconds
   (${CORE.options.accessTtl.default + CORE.options.leeway.default} by default), and no less than SVC_CONFIRM_TTL, SVC_2FA_CHALLENGE_TTL,
   SVC_2FA_ENROLMENT_TTL or SVC_CODE_EXPIRE (minutes), each + SVC_LEEWAY.

4. Remove the entry ${quoted(kid)} and deploy. From then on its tokens fail. Destroy its private key.
`;
}

const publicEntry = (kid: string, publicKey: string): string =>
  `keys: { ...env.keys, public: { ...env.keys?.public, ${quoted(kid)}: ${quoted(publicKey)} } }`;

function otherAlgorithm(key: NewKey, { algorithm = key.algorithm }: Partial<NewKey>): string {
  if (algorithm === key.algorithm) return '';
  return `
Note: SVC_ALGORITHM is ${algorithm}. Guards verify one algorithm, so access tokens signed under it end at step 2,
and clients refresh. Keys overlap under one algorithm only.
`;
}
