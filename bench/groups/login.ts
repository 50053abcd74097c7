import { quantile } from '../statistics';
import { WARM_UP_SECONDS, hashingOf } from '../load';
import { ADAPTERS, type Server } from '../server';
import { ADA, digestOf } from '../stores';
import { type Group, NAMES, type Scenario, type Scenarios, loaded, login } from './group';

/** Logins: argon2 at the library's default cost. */
export const LOGIN: Group = {
  title: 'Login',
  async scenarios(bench) {
    const scenarios: Scenarios = {};
    const [digest, password] = [await digestOf(ADA.password), ADA.password];
    scenarios.hasher = hashes(await bench.start('hasher', { BENCH_DIGEST: digest, BENCH_PASSWORD: password }));
    for (const adapter of ADAPTERS) {
      const load = login(`ours, ${NAMES[adapter]}`, await bench.start('ours', { adapter }), '/auth/login');
      scenarios[`ours.${adapter}`] = { ...loaded(bench, load), timed: adapter === 'express' };
    }
    const handRolled = await bench.start('hand-rolled');
    const byHand = { 'node-rs': 'passport, `@node-rs/argon2`, Express', argon2: 'passport, `argon2`, Express' };
    for (const [library, name] of Object.entries(byHand)) {
      const load = login(name, handRolled, `/string/login/${library}`);
      scenarios[library] = { ...loaded(bench, load), timed: library === 'node-rs' };
    }
    return scenarios;
  },
};

/** The hasher alone, with as many concurrent hashes as in our application. */
const hashes = (server: Server): Scenario => ({
  name: 'the hasher alone: `@node-rs/argon2`',
  async sample(seconds) {
    await server.get(`/hashes?seconds=${WARM_UP_SECONDS}`);
    const before = await server.rest();
    await server.resetDelay();
    const start = performance.now();
    const taken = await server.get<number[]>(`/hashes?seconds=${seconds}`);
    const passed = (performance.now() - start) / 1000;
    const after = await server.spent();
    return {
      perSecond: taken.length / passed,
      p50: quantile(taken, 0.5),
      p99: quantile(taken, 0.99),
      cpuMicros: (after.cpuMicros - before.cpuMicros) / taken.length,
      ...hashingOf(before, after, passed),
      loopP99: after.loopP99,
      rss: after.rss,
    };
  },
});
