import { HASHING } from '../../libs/auth/src/identity/password/password.options';
import { mostAtOnce, poolSize } from '../../libs/auth/src/identity/password/hash-queue';

/** The number of hashes that our application computes at once. */
export const HASHES_AT_ONCE = mostAtOnce(HASHING.concurrency.default, poolSize(process.env.UV_THREADPOOL_SIZE));
