import { DEFAULT_HASHING } from '../../libs/auth/src/foundation/config/defaults';
import { mostAtOnce, poolSize } from '../../libs/auth/src/identity/password/hash-queue';

/** The number of hashes that our application computes at once. */
export const HASHES_AT_ONCE = mostAtOnce(DEFAULT_HASHING.concurrency, poolSize(process.env.UV_THREADPOOL_SIZE));
