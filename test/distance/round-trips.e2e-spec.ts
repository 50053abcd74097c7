import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURE_FLOWS, FLOWS, flowOptions, prepared } from '../support/flows/account-flows';
import { TestApp } from '../support/hosts/app';
import { libraryDatabase } from '../support/hosts/host.module';
import { IdentityProviderHost } from '../support/identity-provider/identity-provider';
import { Mailbox, hangingMails } from '../support/hosts/members';
import { RoundTrips } from '../support/stores/round-trips';

const PAGE = readFileSync(join(__dirname, '../../docs/deployment.md'), 'utf8');

/** The numbers of round trips in the table of the page, by the text of the row. */
const DOCUMENTED = new Map(
  [...PAGE.matchAll(/^\| (.+?) +\| (\d+|–) +\| (\d+) +\|$/gm)].map(([, flow, plain, full]) => [
    flow!,
    { plain: Number(plain), full: Number(full) },
  ]),
);

/** More than one request uses at the same time: the opening of a connection is no message of a request. */
const CONNECTIONS = 8;

/** By the library: it asks a connection that it has not used for some seconds before it uses it again. */
function openConnections(t: TestApp): Promise<unknown> {
  const database = new (libraryDatabase())(t.database, 5000);
  return Promise.all(Array.from({ length: CONNECTIONS }, () => database.query('SELECT pg_sleep(0.02)')));
}

describe.each([
  ['with the features of its flows only', 'plain', FLOWS],
  ['with every feature', 'full', [...FLOWS, ...FEATURE_FLOWS]],
] as const)('the number of round trips in a row of a host %s is that of docs/deployment.md', (_, column, flows) => {
  const mailbox = new Mailbox();
  let provider: IdentityProviderHost;
  const t = TestApp.forFile(async () => {
    provider = await IdentityProviderHost.start();
    return { options: flowOptions(mailbox, provider, column === 'full') };
  });
  afterAll(() => provider.stop());
  beforeEach(() => mailbox.clear());
  afterEach(() => mailbox.release());

  it.each(flows)('for %s', async (...flow) => {
    const send = await prepared(flow, { t, mailbox, provider });
    // The mails of the request do not run beside it.
    await hangingMails(t, mailbox);
    await openConnections(t);
    await t.calm();
    const counted = new RoundTrips(t);
    await send();
    const { trips, inARow } = counted;
    // The list is printed where the number is another one.
    const documented = DOCUMENTED.get(flow[0])?.[column];
    expect(inARow === documented ? [] : trips.map(({ step, store, text }) => `${step} ${store}: ${text}`)).toEqual([]);
  });
});

describe('the table of round trips in docs/deployment.md', () => {
  it('has a row for each flow, and no other row', () => {
    expect([...DOCUMENTED.keys()].toSorted()).toEqual([...FLOWS, ...FEATURE_FLOWS].map(([name]) => name).toSorted());
  });

  it.each([
    ['`POST /login`', 6],
    ['`POST /register`', 7],
    ['`POST /password`', 8],
  ])('has at most the budget for %s: %i', (flow, most) => {
    expect(DOCUMENTED.get(flow)!.plain).toBeLessThanOrEqual(most);
  });

  it.each(['`POST /login`', '`POST /forgot-password`'])(
    'has the same numbers for a known and an unknown email: %s',
    (flow) => {
      const known = flow === '`POST /login`' ? `${flow}, wrong password` : flow;
      expect(DOCUMENTED.get(known)).toEqual(DOCUMENTED.get(`${flow}, unknown email`));
    },
  );
});
