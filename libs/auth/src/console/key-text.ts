import { DEFAULTS } from '../config/defaults';
import { Refused } from './refused';
import type { SigningKey } from './signing-key';

/** The key that signs now, as far as the environment tells. */
export interface RunningKey {
  algorithm?: string;
  kid?: string;
  publicKey?: string;
}

// One line with \n escapes: what env readers unescape inside double quotes, and the library outside them.
const quoted = (text: string): string => JSON.stringify(text);

/** The key pair as PEMs and as lines of an env file. */
export const keyText = ({ algorithm, kid, privateKey, publicKey }: SigningKey): string => `${privateKey}
${publicKey}
SVC_ALGORITHM=${algorithm}
SVC_ACTIVE_KID=${kid}
SVC_PRIVATE_KEY=${quoted(privateKey)}
SVC_PUBLIC_KEY=${quoted(publicKey)}
`;

/**
 * How to put a new key in the place of the running one without ending a token.
 *
 * @throws Refused for a kid in use: one name cannot stand for two keys
 */
export function rotationText(key: SigningKey, running: RunningKey): string {
  if (key.kid === running.kid) {
    throw new Refused(`"${key.kid}" names the running key. Give the new one another --kid, or leave it to chance.`);
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
   (${DEFAULTS.accessTtl + DEFAULTS.leeway} by default), and no less than SVC_2FA_CHALLENGE_TTL or SVC_CONFIRM_TTL, each + SVC_LEEWAY.

4. Remove the entry ${quoted(kid)} and deploy. From then on its tokens fail. Destroy its private key.
`;
}

const publicEntry = (kid: string, publicKey: string): string =>
  `keys: { ...env.keys, public: { ...env.keys?.public, ${quoted(kid)}: ${quoted(publicKey)} } }`;

function otherAlgorithm(key: SigningKey, { algorithm = key.algorithm }: RunningKey): string {
  if (algorithm === key.algorithm) return '';
  return `
Note: SVC_ALGORITHM is ${algorithm}. Guards verify one algorithm, so access tokens signed under it end at step 2,
and clients refresh. Keys overlap under one algorithm only.
`;
}
