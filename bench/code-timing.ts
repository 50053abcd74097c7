import { setTimeout as sleep } from 'node:timers/promises';
import { Cleanup } from './cleanup';
import { type LoginTiming, differenceOf, summaryOf, timePairs, timedPost } from './login-timing';
import { Server } from './server';
import { startStores } from './stores';

/** Pause after each request in milliseconds: the mail of a known user is prepared after the answer. */
const PAUSE_MS = 20;

const PAIRS = Number(process.env.BENCH_LOGINS ?? 200);

/** Measures whether the time of a request for a code or for a reset link, or of a wrong code, shows that an address has an account. */
async function main(cleanup: Cleanup): Promise<void> {
  cleanup.deadline(600);
  const server = await Server.start('ours', await startStores(cleanup), cleanup, { BENCH_CODES: 'true' });
  const request = async (email: string) => {
    const answer = await timedPost(`${server.url}/auth/login/code`, { email });
    if (answer.status !== 202) throw new Error(`a request for a code answered ${answer.status}`);
    await sleep(PAUSE_MS);
    return answer;
  };
  const guess = async (email: string): Promise<number> => {
    const { code_token } = JSON.parse((await request(email)).text) as { code_token: string };
    const { status, milliseconds } = await timedPost(`${server.url}/auth/login/code/verify`, { code_token, code: 'x' });
    if (status !== 422) throw new Error(`a wrong code answered ${status}`);
    return milliseconds;
  };
  const forgot = async (email: string): Promise<number> => {
    const { status, milliseconds } = await timedPost(`${server.url}/auth/forgot-password`, { email });
    if (status !== 200) throw new Error(`a forgotten password answered ${status}`);
    await sleep(PAUSE_MS);
    return milliseconds;
  };
  print('forgotten passwords', await timePairs(forgot, PAIRS));
  const requests = await timePairs(async (email) => (await request(email)).milliseconds, PAIRS);
  print('requests for a code', requests);
  print('wrong codes', await timePairs(guess, PAIRS));
}

function print(name: string, timing: LoginTiming): void {
  const { known, unknown, unknownSlower } = summaryOf(timing);
  const { median, low, high } = differenceOf(timing);
  const shown = (numbers: number[]): string => numbers.map((number) => number.toFixed(2)).join(' / ');
  process.stdout.write(
    `${name}, median / 5 % / 95 % in ms: known ${shown(known)}, unknown ${shown(unknown)}; ` +
      `an unknown address is slower in ${(100 * unknownSlower).toFixed(0)} % of pairs (50 % shows nothing); ` +
      `a known one takes ${median.toFixed(3)} ms longer, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}\n`,
  );
}

const cleanup = new Cleanup();
main(cleanup)
  .catch((error: unknown) => cleanup.report(error))
  .finally(() => cleanup.run());
