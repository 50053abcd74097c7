import { Client, escapeLiteral } from 'pg';
import type { DataSource } from 'typeorm';

/** A statement as the process sent it. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** How the planner reads one table of a statement. */
export interface Access {
  table: string;
  /** `Index Scan`, `Seq Scan`, … */
  by: string;
  index?: string;
}

/** A plan for the given values or a generic one. PostgreSQL uses the latter if a prepared statement runs often. */
export type PlanKind = 'custom' | 'generic';

const OF_ROWS = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;

/** Records the statements of this process that match, below TypeORM and the pool; by default those that read or write rows. */
export function recordStatements(wanted = OF_ROWS): { statements: Statement[]; stop: () => void } {
  const statements: Statement[] = [];
  const { prototype } = Client as unknown as { prototype: { query(...args: unknown[]): unknown } };
  const { query } = prototype;
  prototype.query = function recorded(...args) {
    const [first, second] = args as [string | Partial<Statement>, unknown];
    const { text = '', values = [] } =
      typeof first === 'string' ? { text: first, values: Array.isArray(second) ? second : [] } : first;
    if (wanted.test(text)) statements.push({ text, values });
    return query.apply(this, args);
  };
  return { statements, stop: () => void (prototype.query = query) };
}

/** The plan of a prepared statement, without its execution. The library also prepares its statements. */
export async function plannedAccesses(client: Client, statement: Statement, kind: PlanKind): Promise<Access[]> {
  return (await explained(client, statement, kind, 'FORMAT JSON')).flatMap(readsOf);
}

/** Runs a prepared statement and rolls it back. @returns how each table was read, and how many rows */
export async function measureAccesses(client: Client, statement: Statement, kind: PlanKind): Promise<MeasuredAccess[]> {
  await client.query('BEGIN');
  try {
    return (await explained(client, statement, kind, 'ANALYZE, FORMAT JSON')).flatMap(measuresOf);
  } finally {
    await client.query('ROLLBACK');
  }
}

/**
 * Fills an empty table for `shareOfIndexRead`, with current statistics. After a DELETE, its indexes would still have the
 * entries of earlier tests, and a scan reads the row of each of them.
 */
export async function fillAnew(database: DataSource, table: string, fill: () => Promise<unknown>): Promise<void> {
  await database.query(`TRUNCATE ${table} CASCADE`);
  await fill();
  await database.query(`VACUUM ANALYZE ${table}`);
}

/**
 * Runs a statement and rolls it back. Its table was filled by `fillAnew`. It may not sort, so that it uses the index of its order whatever the statistics are.
 *
 * @returns the blocks that its scans of an index read, as a share of the blocks of the index. Above 1 if they also read rows
 */
export async function shareOfIndexRead(connectionString: string, statement: Statement, index: string): Promise<number> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL enable_sort = off');
    const plans = await explained(client, statement, 'generic', 'ANALYZE, BUFFERS, FORMAT JSON');
    const scans = plans.flatMap(nodesIn).filter((node) => node['Index Name'] === index);
    if (!scans.length) throw new Error(`the statement does not use ${index}`);
    const blocks = scans.flatMap((node) => [node['Shared Hit Blocks'] ?? 0, node['Shared Read Blocks'] ?? 0]);
    const { rows } = await client.query('SELECT (pg_relation_size($1) / 8192)::int AS blocks', [index]);
    return blocks.reduce((sum, count) => sum + count, 0) / rows[0].blocks;
  } finally {
    await client.end();
  }
}

const nodesIn = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesIn)];

async function explained(
  client: Client,
  { text, values }: Statement,
  kind: PlanKind,
  options: string,
): Promise<Node[]> {
  const literals = values.map(literal).join(', ');
  await client.query(`PREPARE examined AS ${text}`);
  try {
    await client.query(`SET plan_cache_mode = force_${kind}_plan`);
    const { rows } = await client.query(`EXPLAIN (${options}) EXECUTE examined${literals && `(${literals})`}`);
    return rows[0]['QUERY PLAN'].map(({ Plan }: { Plan: Node }) => Plan);
  } finally {
    await client.query('DEALLOCATE examined');
  }
}

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: Node[];
}

/** An access that was executed. */
export interface MeasuredAccess extends Access {
  /** The rows read, including those that a filter removed. */
  rows: number;
}

function measuresOf(node: Node): MeasuredAccess[] {
  const { 'Actual Rows': found = 0, 'Actual Loops': loops = 1, Plans: below = [] } = node;
  const filtered = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = ownRead(node).map((access) => ({ ...access, rows: (found + filtered) * loops }));
  return [...own, ...below.flatMap(measuresOf)];
}

const readsOf = (node: Node): Access[] => [...ownRead(node), ...(node.Plans ?? []).flatMap(readsOf)];

/** One node builds a bitmap. The node above it reads the table and has its name. */
function ownRead({ 'Node Type': by, 'Relation Name': table, 'Index Name': index, Plans: below = [] }: Node): Access[] {
  const bitmap = below.find((one) => one['Node Type'] === 'Bitmap Index Scan')?.['Index Name'];
  return table && by !== 'ModifyTable' ? [{ table, by, index: index ?? bitmap }] : [];
}

/** A string literal that the server casts to the type of the parameter. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Buffer.isBuffer(value)) return escapeLiteral(`\\x${value.toString('hex')}`);
  if (Array.isArray(value)) return escapeLiteral(`{${value.map((one) => JSON.stringify(String(one))).join(',')}}`);
  return escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
}
