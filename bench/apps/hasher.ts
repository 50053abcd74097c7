// The password hasher alone, with as many concurrent hashes as in our application.
import { verify } from '@node-rs/argon2';
import { HASHES_AT_ONCE } from './hashes-at-once';
import { servePlain } from './serve';

const { BENCH_DIGEST: digest = '', BENCH_PASSWORD: password = '' } = process.env;

/** Computes hashes for some seconds, as many at once as our application. @returns milliseconds of each hash */
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
