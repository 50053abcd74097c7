// Nothing but the password hasher, as busy as our application keeps it.
import { verify } from '@node-rs/argon2';
import { DEFAULT_HASHING } from '../../libs/auth/src/config/defaults';
import { mostAtOnce, poolSize } from '../../libs/auth/src/password/thread-pool.policy';
import { servePlain } from './serve';

const IN_FLIGHT = mostAtOnce(DEFAULT_HASHING.concurrency, poolSize(process.env.UV_THREADPOOL_SIZE));
const { BENCH_DIGEST: digest = '', BENCH_PASSWORD: password = '' } = process.env;

/** Milliseconds of every hash, in as many at once as ours computes, for some seconds. */
async function hashes(seconds: number): Promise<number[]> {
  const taken: number[] = [];
  const end = performance.now() + seconds * 1000;
  const one = async (): Promise<void> => {
    for (let start = performance.now(); start < end; start = performance.now()) {
      if (!(await verify(digest, password))) throw new Error('the password does not match');
      taken.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  return taken;
}

servePlain(async (_request, path, query) =>
  path === '/hashes' ? [200, await hashes(Number(query.get('seconds')))] : [404, {}],
);
