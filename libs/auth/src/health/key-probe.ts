import { signJws, verifyJws } from '../tokens/jws';
import type { Keyring } from '../tokens/keyring';

/** `typ` of what is signed as a probe: no token of ours has it, so none can be mistaken for one. */
const TYPE = 'health+probe';

/**
 * Whether a key ring verifies what it signs. One that only verifies has proved its keys when it was made, or has keys
 * that were read from elsewhere; the probe reads them, or a service that waits to be healthy would never do so.
 *
 * @throws StoreUnavailable where they were never read and cannot be
 */
export async function provesItself(keyring: Keyring): Promise<boolean> {
  if (keyring.canSign) return verifyJws(keyring, signJws(keyring, TYPE, {})) !== null;
  return keyring.remote ? keyring.remote.hasAny() : true;
}
