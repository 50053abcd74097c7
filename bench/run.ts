import { Cleanup } from './cleanup';
import { type Sample, type StoreCalls, sample, storeCalls } from './load';
import { timeLogins } from './login-timing';
import { type Measured, report } from './report';
import { type Scenarios, scenariosOf } from './scenarios';
import { Server } from './server';
import { type Settings, readSettings } from './settings';
import { redisCommands, startStores } from './stores';

const WARM_UP_SECONDS = 1;

async function main(cleanup: Cleanup): Promise<void> {
  const settings = readSettings();
  const stores = await startStores(cleanup);
  const ours = await Server.start('ours', stores, cleanup);
  const handRolled = await Server.start('hand-rolled', stores, cleanup);
  const scenarios = scenariosOf(ours, handRolled, settings.only);
  const perRound = Object.keys(scenarios).length * (settings.seconds + 1);
  cleanup.deadline(60 + 2 * (settings.rounds + 1) * perRound + settings.logins);

  // The compiler has met every path before anything counts.
  for (const scenario of Object.values(scenarios)) await sample(scenario, WARM_UP_SECONDS, settings);
  const calls: Record<string, StoreCalls> = {};
  for (const [key, scenario] of Object.entries(scenarios))
    calls[key] = await storeCalls(scenario, () => redisCommands(stores.redisUrl));
  const samples = await rounds(scenarios, settings);
  const timings: Measured['timings'] = {};
  for (const scenario of [scenarios.oursLogin, scenarios.nodeRsLogin])
    if (scenario) timings[scenario.name] = await timeLogins(scenario, settings.logins);
  process.stdout.write(`${report({ settings, scenarios, samples, calls, timings })}\n`);
}

/** Every scenario once a round, so that a disturbance of the machine meets all of them. */
async function rounds(scenarios: Scenarios, settings: Settings): Promise<Record<string, Sample[]>> {
  const samples: Record<string, Sample[]> = {};
  for (let round = 0; round < settings.rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${settings.rounds}\n`);
    const order = Object.entries(scenarios);
    // Backwards every other time: what a scenario leaves behind falls on both its neighbours.
    for (const [key, scenario] of round % 2 ? order.toReversed() : order)
      (samples[key] ??= []).push(await sample(scenario, settings.seconds, settings));
  }
  return samples;
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
