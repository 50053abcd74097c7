import { signJws, verifyJws } from '../tokens/jws';
import type { Keyring } from '../tokens/keyring';

/** `typ` of what is signed as a probe: no token of ours has it, so none can be mistaken for one. */
const TYPE = 'health+probe';

/** Whether a key ring verifies what it signs. One that only verifies has proved its keys when it was made. */
export const provesItself = (keyring: Keyring): boolean =>
  !keyring.canSign || verifyJws(keyring, signJws(keyring, TYPE, {})) !== null;
