import { Client, escapeLiteral } from 'pg';

/** A statement as it left the process. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** How one table of a statement is read, as the planner means to. */
export interface Access {
  table: string;
  /** `Index Scan`, `Seq Scan`, … */
  by: string;
  index?: string;
}

/** For the values at hand, or for any: PostgreSQL turns to the latter where a prepared statement is run often. */
export type PlanKind = 'custom' | 'generic';

/** Records every statement of this process that reads or writes rows, below TypeORM and below the pool. */
export function recordStatements(): { statements: Statement[]; stop: () => void } {
  const statements: Statement[] = [];
  const { prototype } = Client as unknown as { prototype: { query(...args: unknown[]): unknown } };
  const { query } = prototype;
  prototype.query = function recorded(...args) {
    const [first, second] = args as [string | Partial<Statement>, unknown];
    const { text = '', values = [] } =
      typeof first === 'string' ? { text: first, values: Array.isArray(second) ? second : [] } : first;
    if (/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text)) statements.push({ text, values });
    return query.apply(this, args);
  };
  return { statements, stop: () => void (prototype.query = query) };
}

/** Asks how a statement would run as a prepared one, which is how the library runs its own. Nothing is run. */
export async function accessesOf(client: Client, { text, values }: Statement, kind: PlanKind): Promise<Access[]> {
  const literals = values.map(literal).join(', ');
  await client.query(`PREPARE examined AS ${text}`);
  try {
    await client.query(`SET plan_cache_mode = force_${kind}_plan`);
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE examined${literals && `(${literals})`}`);
    return rows[0]['QUERY PLAN'].flatMap(({ Plan }: { Plan: Node }) => readsOf(Plan));
  } finally {
    await client.query('DEALLOCATE examined');
  }
}

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Node[];
}

/** A bitmap is made by one node and read by the one above it, which knows the table. */
function readsOf(node: Node): Access[] {
  const { 'Node Type': by, 'Relation Name': table, 'Index Name': index, Plans: below = [] } = node;
  const bitmap = below.find((one) => one['Node Type'] === 'Bitmap Index Scan')?.['Index Name'];
  const own = table && by !== 'ModifyTable' ? [{ table, by, index: index ?? bitmap }] : [];
  return [...own, ...below.flatMap(readsOf)];
}

/** As a text that the server reads as whatever type the parameter has. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Array.isArray(value)) return escapeLiteral(`{${value.map((one) => JSON.stringify(String(one))).join(',')}}`);
  return escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
}
