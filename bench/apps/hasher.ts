// Nothing but the password hasher, as busy as our application keeps it.
import { verify } from '@node-rs/argon2';
import { HASHES_AT_ONCE } from './hashes-at-once';
import { servePlain } from './serve';

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
  await Promise.all(Array.from({ length: HASHES_AT_ONCE }, one));
  return taken;
}

servePlain(async (_request, path, query) =>
  path === '/hashes' ? [200, await hashes(Number(query.get('seconds')))] : [404, {}],
);
