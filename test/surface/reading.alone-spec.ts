import { onFastify } from '../support/hosts/adapter';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { ADA } from '../support/flows/step-up';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';

const SRC = join(__dirname, '../../libs/auth/src/');

/** The files that the denylist monitor runs once a second, beside every request. */
const BY_TIMER = /denylist-monitor|store-continuity|ended-sessions|session\.entity/;

/** How many requests of a kind are sent: a file counts if each of them runs a function of it. */
const REQUESTS = 4;

/** The files of the library in which a function ran during `work`, by V8's precise coverage. */
async function filesRunBy(work: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  // The counters start at zero here, so that the start of the application does not count.
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  // Functions run without optimization until it is stopped.
  await session.post('Profiler.stopPreciseCoverage');
  await session.post('Profiler.disable');
  session.disconnect();
  const files = result
    .map(({ url, functions }) => ({ file: url.replace('file://', ''), functions }))
    .filter(({ file }) => file.startsWith(SRC) && !file.includes('/testing/') && !BY_TIMER.test(file))
    .filter(({ file, functions }) => {
      // The compiler writes exports as getters, which run at every use of an import.
      const getters = new Set(Object.keys(require(file) as object).map((name) => `get ${name}`));
      return functions.some(
        ({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0 && !getters.has(functionName),
      );
    })
    .map(({ file }) => file.slice(SRC.length));
  return [...new Set(files)].toSorted();
}

describe('the number of files that run in one request', () => {
  const { t, mailbox } = membersForFile({ features: { twoFactor: true, lockout: true } });

  let mailNumber = 0;

  beforeEach(() => member(t, ADA));

  it.each<[name: string, most: number, prepare: () => Promise<() => Promise<{ status: number }>>]>([
    ['a login', 51, async () => async () => t.login(ADA)],
    [
      'a refresh',
      30,
      async () => {
        const { refresh_token } = await t.session(ADA);
        return async () => t.refresh(refresh_token);
      },
    ],
    [
      'a guarded request',
      // On Fastify a hook compares the path of every request, because a hook of a route would not see unknown paths.
      onFastify ? 23 : 22,
      async () => {
        const { access_token } = await t.session(ADA);
        return async () => t.get('/private', access_token);
      },
    ],
    [
      'a reset of the password',
      45,
      async () => {
        await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
        mailNumber++;
        const token = linkIn(await mailbox.nth(mailNumber)).searchParams.get('token');
        const next = `${PASSWORD} ${mailNumber}`;
        return async () =>
          t.http.post('/auth/reset-password').send({ email: ADA, token, password: next, password_confirmation: next });
      },
    ],
  ])('is within the budget for %s: at most %i files', async (_, most, prepare) => {
    // What runs once for a process does not count, nor what a timer runs beside some of the requests.
    let files: string[] | undefined;
    for (let request = 0; request < REQUESTS; request++) {
      const send = await prepare();
      const ran = await filesRunBy(async () => expect((await send()).status).toBe(200));
      files = files?.filter((file) => ran.includes(file)) ?? ran;
    }
    files ??= [];
    // The list is printed where there are too many.
    expect(files.length > most ? files : []).toEqual([]);
    // Without this file, the coverage would be empty.
    expect(files).toEqual(expect.arrayContaining(['request/gates/route-guard.ts']));
    if (process.env.TEST_PRINT) console.log(files.length);
  });
});
