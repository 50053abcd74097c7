import { Client as Postgres } from 'pg';
import { type Access, type PlanKind, plannedAccesses } from '../../test/support/stores/query-plans';
import type { Tokens } from '../apps/serve';
import { ADA } from '../stores';
import type { Answer } from './client';
import type { Deployment } from './deployment';

/** How the statements of one operation access their tables. */
export interface Planned {
  operation: string;
  statements: number;
  /** Distinct accesses: `svc_sessions: Index Scan (svc_sessions_pkey)`. */
  accesses: string[];
  /** Large tables with a sequential scan. */
  missed: string[];
}

/** Below this number of rows, a sequential scan is the right plan. */
const TINY = 1000;
const ROWS = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;
const KINDS: readonly PlanKind[] = ['custom', 'generic'];

const tokensIn = ({ text }: Answer): Tokens => JSON.parse(text) as Tokens;

/** Sends each kind of request once and gets PostgreSQL's plans for its statements. */
export async function plansOf(side: Deployment): Promise<Planned[]> {
  const { client, server } = side;
  const postgres = new Postgres({ connectionString: side.stores.databaseUrl });
  await postgres.connect();
  const sizes = await sizesOf(postgres);
  const planned: Planned[] = [];
  const examine = async (operation: string, work: () => Promise<Answer>): Promise<Answer> => {
    let answer: Answer | undefined;
    const recorded = await server.recorded(async () => (answer = await work()));
    const statements = recorded.filter(({ text }) => ROWS.test(text));
    const found: Access[] = [];
    for (const statement of statements)
      for (const kind of KINDS) found.push(...(await plannedAccesses(postgres, statement, kind)));
    planned.push({ operation, statements: statements.length, ...summaryOf(found, sizes) });
    return answer!;
  };
  try {
    await everyOperation(client, examine);
  } finally {
    await postgres.end();
  }
  return planned;
}

type Examine = (operation: string, work: () => Promise<Answer>) => Promise<Answer>;

async function everyOperation(client: Deployment['client'], examine: Examine): Promise<void> {
  const login = () => client.expect(200, 'POST', '/auth/login', { body: ADA });
  const refresh = (refresh_token: string) => client.expect(200, 'POST', '/auth/refresh', { body: { refresh_token } });
  const first = tokensIn(await login());
  const { access_token: token, refresh_token } = tokensIn(await examine('login', login));
  await examine('guarded GET', () => client.expect(200, 'GET', '/guarded', { token }));
  await examine('refresh', () => refresh(first.refresh_token));
  await examine('refresh again, within the grace period', () => refresh(first.refresh_token));
  const list = await examine('list of sessions', () => client.expect(200, 'GET', '/auth/sessions', { token }));
  const { data } = JSON.parse(list.text) as { data: { id: string; current: boolean }[] };
  const { id } = data.find(({ current }) => !current)!;
  await examine('end one session', () => client.expect(204, 'DELETE', `/auth/sessions/${id}`, { token }));
  await examine('end the others', () => client.expect(204, 'DELETE', '/auth/sessions/others', { token }));
  await examine('logout', () => client.expect(204, 'POST', '/auth/logout', { token }));
  await examine('refresh of an ended session', () =>
    client.expect(401, 'POST', '/auth/refresh', { body: { refresh_token } }),
  );
  const { access_token: last } = tokensIn(await login());
  await examine('end all sessions', () => client.expect(204, 'DELETE', '/auth/sessions', { token: last }));
}

async function sizesOf(postgres: Postgres): Promise<Map<string, number>> {
  const { rows } = await postgres.query<{ name: string; size: number }>(
    `SELECT relname AS name, reltuples::float8 AS size FROM pg_class WHERE relkind = 'r'`,
  );
  return new Map(rows.map(({ name, size }) => [name, size]));
}

function summaryOf(found: Access[], sizes: Map<string, number>): Pick<Planned, 'accesses' | 'missed'> {
  const isLarge = ({ table }: Access): boolean => (sizes.get(table) ?? 0) >= TINY;
  const lines = found.map((access) => {
    const index = access.index ? ` (${access.index})` : '';
    return `${access.table}: ${access.by}${index}${isLarge(access) ? '' : ', tiny'}`;
  });
  const scans = found.filter((access) => access.by === 'Seq Scan' && isLarge(access));
  return { accesses: [...new Set(lines)].toSorted(), missed: [...new Set(scans.map(({ table }) => table))] };
}
