import { loadModule, parseSync } from 'libpg-query';

/** How a statement reaches the rows of one table. */
export interface TableAccess {
  table: string;
  /** The columns of the key that values of the statement determine; null if it has to look in every shard. */
  by: string | null;
}

export interface StatementKeys {
  accesses: TableAccess[];
  /** Advisory locks that the statement takes. */
  locks: string[];
  /** What a sharded or distributed database cannot execute in one place. */
  flaws: string[];
}

// eslint-disable-next-line typescript/no-explicit-any
type Tree = Record<string, any>;

/** The name of a relation in a query, and its table; null for a common table expression or another source of rows. */
interface Relation {
  name: string;
  table: string | null;
}

interface Scope {
  relations: Relation[];
  expressions: ReadonlySet<string>;
  outer?: Scope;
}

const MODIFYING = ['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'];
const QUERIES = ['SelectStmt', ...MODIFYING];
const CATALOG = /^pg_/;

/** Prepares the parser, which is that of PostgreSQL. */
export const loadParser = (): Promise<void> => loadModule();

/**
 * Reads the keys of a statement from its syntax tree. A table is reached by a key if, on the same query level, each of its
 * columns equals a parameter, a constant, a sub-select, or a column of another relation. Those are judged on their own.
 *
 * @param keysOf the keys of a table; undefined for one that is not judged
 */
export function statementKeys(
  text: string,
  keysOf: (table: string) => readonly (readonly string[])[] | undefined,
): StatementKeys {
  const { stmts } = parseSync(text) as { stmts: { stmt: Tree }[] };
  const found: StatementKeys = { accesses: [], locks: [], flaws: [] };
  for (const { stmt } of stmts) {
    if (stmt.LockStmt) found.flaws.push('LOCK TABLE');
    judge(stmt, undefined, keysOf, found);
    judgeWhole(stmt, found);
  }
  for (const { table, by } of found.accesses) if (by === null) found.flaws.push(`${table} in every shard`);
  const tables = [...new Set(found.accesses.map(({ table }) => table))];
  if (tables.length > 1) found.flaws.push(`${tables.toSorted().join(' and ')} in one statement`);
  return found;
}

/** Judges what concerns all levels of a statement together. */
function judgeWhole(stmt: Tree, found: StatementKeys): void {
  const modified: string[] = [];
  let inserts = 0;
  visit(stmt, (kind, node) => {
    if (MODIFYING.includes(kind)) modified.push(node.relation.relname);
    if (kind === 'InsertStmt') inserts++;
    if (kind !== 'FuncCall') return;
    const name = nameOf(node.funcname);
    if (!name.includes('advisory')) return;
    found.locks.push(name);
    if (!name.includes('xact')) found.flaws.push(`${name}: held beyond the transaction`);
  });
  if (inserts > 1) found.flaws.push('two inserts');
  if (new Set(modified).size < modified.length) found.flaws.push('one table is modified twice');
}

/** Judges every query in `tree`, each on its own level. */
function judge(
  tree: unknown,
  outer: Scope | undefined,
  keysOf: Parameters<typeof statementKeys>[1],
  found: StatementKeys,
): void {
  visitQueries(tree, (kind, query) => {
    const own = (query.withClause?.ctes ?? []).map(({ CommonTableExpr: cte }: Tree) => cte.ctename as string);
    const expressions = new Set([...(outer?.expressions ?? []), ...own]);
    const sources = [...(query.fromClause ?? []), ...(query.usingClause ?? [])];
    if (query.relation) sources.push({ RangeVar: query.relation });
    const relations = sources.flatMap((source) => relationsIn(source, expressions));
    const scope: Scope = { relations, expressions, outer };
    const conditions = [query.whereClause, ...sources.flatMap(joinConditions)].filter(Boolean);
    for (const { name, table } of relations) {
      const keys = table === null ? undefined : keysOf(table);
      if (table === null || CATALOG.test(table)) continue;
      if (!keys) throw new Error(`no keys are known of the table ${table}`);
      const isTarget = query.relation && name === (query.relation.alias?.aliasname ?? query.relation.relname);
      const bound = kind === 'InsertStmt' && isTarget ? insertedColumns(query) : boundColumns(conditions, name, scope);
      const used = keys.find((key) => key.every((column) => bound.has(column)));
      found.accesses.push({ table, by: used?.join(', ') ?? null });
    }
    judge(query, scope, keysOf, found);
  });
}

const insertedColumns = ({ cols }: Tree): Set<string> =>
  new Set((cols ?? []).map(({ ResTarget: { name } }: Tree) => name));

/** The columns of a relation that the conditions determine. */
function boundColumns(conditions: unknown[], relation: string, scope: Scope): Set<string> {
  const bound = new Set<string>();
  const add = (column: unknown, value: unknown): void => {
    const name = columnOf(column, relation, scope);
    if (name !== null && isKnown(value, relation, scope)) bound.add(name);
  };
  for (const condition of conditions) {
    const { BoolExpr: all, A_Expr: comparison, SubLink: sub } = condition as Tree;
    if (all?.boolop === 'AND_EXPR') for (const name of boundColumns(all.args, relation, scope)) bound.add(name);
    if (all?.boolop === 'OR_EXPR') {
      const sides: Set<string>[] = all.args.map((one: unknown) => boundColumns([one], relation, scope));
      for (const name of sides[0]!) if (sides.every((side) => side.has(name))) bound.add(name);
    }
    if (comparison && nameOf(comparison.name) === '=') {
      const { kind, lexpr, rexpr } = comparison;
      if (kind === 'AEXPR_OP' || kind === 'AEXPR_OP_ANY') add(lexpr, rexpr);
      if (kind === 'AEXPR_OP') add(rexpr, lexpr);
      if (kind === 'AEXPR_IN' && rexpr.List.items.every((item: unknown) => isKnown(item, relation, scope)))
        add(lexpr, rexpr.List.items[0]);
    }
    if (sub?.subLinkType === 'ANY_SUBLINK')
      for (const column of sub.testexpr.RowExpr?.args ?? [sub.testexpr]) add(column, { SubLink: sub });
  }
  return bound;
}

/** The name of the relation's column; null if the expression is something else. */
function columnOf(expression: unknown, relation: string, { relations }: Scope): string | null {
  const fields = (expression as Tree).ColumnRef?.fields as Tree[] | undefined;
  if (!fields) return null;
  const [first, second] = fields.map((field) => field.String?.sval as string | undefined);
  if (second !== undefined) return first === relation ? second : null;
  const tables = relations.filter(({ table }) => table !== null);
  return tables.length === 1 && tables[0]!.name === relation ? (first ?? null) : null;
}

/** Whether a value does not depend on the row itself: it is a parameter, a constant, a sub-select or another relation's. */
function isKnown(expression: unknown, relation: string, scope: Scope): boolean {
  const { ParamRef, A_Const, TypeCast, SubLink, ColumnRef } = expression as Tree;
  if (ParamRef || A_Const || SubLink) return true;
  if (TypeCast) return isKnown(TypeCast.arg, relation, scope);
  if (!ColumnRef || ColumnRef.fields.length < 2) return false;
  const qualifier = ColumnRef.fields[0].String.sval as string;
  for (let level: Scope | undefined = scope; level; level = level.outer) {
    if (level.relations.some(({ name }) => name === qualifier)) return level !== scope || qualifier !== relation;
  }
  return false;
}

function relationsIn(source: Tree, expressions: ReadonlySet<string>): Relation[] {
  const { RangeVar, JoinExpr, RangeSubselect, RangeFunction } = source;
  if (JoinExpr) return [...relationsIn(JoinExpr.larg, expressions), ...relationsIn(JoinExpr.rarg, expressions)];
  const other = RangeSubselect ?? RangeFunction;
  if (other) return [{ name: other.alias?.aliasname ?? '', table: null }];
  if (!RangeVar) throw new Error(`an unknown source of rows: ${JSON.stringify(source)}`);
  const { relname, schemaname, alias } = RangeVar;
  const isExpression = schemaname === undefined && expressions.has(relname);
  return [{ name: alias?.aliasname ?? relname, table: isExpression ? null : relname }];
}

function joinConditions({ JoinExpr }: Tree): Tree[] {
  if (!JoinExpr) return [];
  const using = (JoinExpr.usingClause ?? []).map((column: Tree) => {
    const side = (source: Tree): Tree => ({ ColumnRef: { fields: [{ String: { sval: firstName(source) } }, column] } });
    const operands = { lexpr: side(JoinExpr.larg), rexpr: side(JoinExpr.rarg) };
    return { A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: '=' } }], ...operands } };
  });
  const inner = [...joinConditions(JoinExpr.larg), ...joinConditions(JoinExpr.rarg)];
  return [...(JoinExpr.quals ? [JoinExpr.quals] : []), ...using, ...inner];
}

/** The name of the first relation in a source of rows. */
function firstName({ JoinExpr, RangeVar, RangeSubselect, RangeFunction }: Tree): string {
  if (JoinExpr) return firstName(JoinExpr.larg);
  return (RangeVar ?? RangeSubselect ?? RangeFunction).alias?.aliasname ?? RangeVar.relname;
}

const nameOf = (name: { String: { sval: string } }[]): string => name.at(-1)!.String.sval;

/** Visits the nodes of a tree by their kind. */
function visit(tree: unknown, on: (kind: string, node: Tree) => void): void {
  if (tree === null || typeof tree !== 'object') return;
  for (const [kind, node] of Object.entries(tree)) {
    if (node !== null && typeof node === 'object' && !Array.isArray(node)) on(kind, node);
    visit(node, on);
  }
}

/** Visits the outermost queries of a tree. */
function visitQueries(tree: unknown, on: (kind: string, query: Tree) => void): void {
  if (tree === null || typeof tree !== 'object') return;
  for (const [kind, node] of Object.entries(tree)) {
    // The two halves of a UNION have no wrapper with the kind.
    if (QUERIES.includes(kind) || ((kind === 'larg' || kind === 'rarg') && 'targetList' in node)) {
      on(kind.endsWith('arg') ? 'SelectStmt' : kind, node);
    } else {
      visitQueries(node, on);
    }
  }
}
