import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import { type Database, quoted, quotedPath } from '../../foundation/platform/database';
import { idColumnOf, storesText } from '../../identity/users/columns';
import { canonicalEmail, foldedIdentifier, emailSpellings } from '../../identity/users/identifiers';
import { FEATURES } from '../../features';
import { acceptsHash } from '../../identity/password/password-check';
import { type Finding, type UnnamedFinding, error, found, ok, skipped, warning } from './config-checks';
import { messageOf } from './host-watch';

/** An index on the table of users, as PostgreSQL describes it. */
interface UserIndex {
  /** Its first column or expression, in SQL. */
  readonly first: string;
  readonly unique: boolean;
  readonly columns: number;
  /** The condition of its rows; null for all rows. */
  readonly predicate: string | null;
  /** The names in SQL: with quotes where PostgreSQL needs them. */
  readonly column: string;
  readonly deletedAt: string | null;
}

/** The tables of users whose entity the library knows, and which exist: `missingColumns` names the others. */
async function userTables(database: Database, config?: AuthConfig) {
  const known = (config?.guards ?? []).flatMap((guard) => {
    const metadata = guard.users?.entity && database.source.getMetadata(guard.users.entity);
    return metadata ? [{ guard, metadata }] : [];
  });
  const present = await database.query<{ isTable: boolean }>(
    'SELECT to_regclass(path) IS NOT NULL AS "isTable" FROM unnest($1::text[]) WITH ORDINALITY AS t (path, place) ORDER BY place',
    [known.map(({ metadata }) => quotedPath(metadata.tablePath))],
  );
  return known.filter((_, i) => present[i]?.isTable);
}

/**
 * Whether the database keeps the ids unique, which the entity declares as its primary key. Where the key of the table has more
 * columns, two users can have one id. A view has no indexes of its own.
 */
export async function idChecks(database: Database, config?: AuthConfig): Promise<Finding[]> {
  const checks = (await userTables(database, config)).map(async ({ metadata }): Promise<Finding[]> => {
    const column = idColumnOf(metadata).databaseName;
    const [table] = await database.query<{ isUnique: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisvalid AND indisunique AND indnkeyatts = 1
                AND indpred IS NULL AND pg_get_indexdef(indexrelid, 1, false) = quote_ident($2)) AS "isUnique"
         FROM pg_class c WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p')`,
      [quotedPath(metadata.tablePath), column],
    );
    if (table?.isUnique !== false) return [];
    const place = `${metadata.tablePath}.${column}`;
    const message = `${place} has no unique index of this column alone: two users can have one id, and each is signed in as the other.`;
    const cure = `CREATE UNIQUE INDEX ON ${quotedPath(metadata.tablePath)} ("${column}");`;
    return found('indexes', error(message, cure));
  });
  return (await Promise.all(checks)).flat();
}

/** Whether a login finds its user by an index, and whether two users can have one identifier. */
export async function identifierChecks(database: Database, config?: AuthConfig): Promise<Finding[]> {
  const checks = (await userTables(database, config)).map(async ({ guard, metadata }): Promise<Finding[]> => {
    const column = metadata.findColumnWithPropertyName(guard.username)?.databaseName;
    if (!column) return [];
    const indexes = await database.query<UserIndex>(
      `SELECT pg_get_indexdef(indexrelid, 1, false) AS first, indisunique AS unique, indnkeyatts AS columns,
              pg_get_expr(indpred, indrelid) AS predicate, quote_ident($2) AS column, quote_ident($3) AS "deletedAt"
         FROM pg_index WHERE indrelid = to_regclass($1) AND indisvalid`,
      [quotedPath(metadata.tablePath), column, metadata.deleteDateColumn?.databaseName ?? null],
    );
    return found('indexes', identifierVerdict(metadata.tablePath, column, indexes));
  });
  return (await Promise.all(checks)).flat();
}

/** A login compares the plain column. An index of an expression, such as `lower(email)`, may keep it unique all the same. */
function identifierVerdict(table: string, column: string, indexes: readonly UserIndex[]): UnnamedFinding {
  const place = `${table}.${column}`;
  const plain = indexes.filter(({ first, column: name }) => first === name);
  const lookUp = plain.find(hasAllRows);
  const unique = indexes.find((index) => index.unique && index.columns === 1 && isAbout(index) && hasAllRows(index));
  if (lookUp && unique) return ok(`${place} has a unique index.`);
  const readsAll = 'each login reads the whole table';
  const twice = 'two users can have one identifier';
  const problem = lookUp
    ? `an index, but no unique index of this column alone: ${twice}`
    : unique
      ? `a unique index of ${unique.first}, but none that begins with the column itself: ${readsAll}`
      : plain.length
        ? `no index of all rows: ${readsAll}, and ${twice}`
        : `no index that begins with it: ${readsAll}, and ${twice}`;
  const cure = `CREATE ${unique ? '' : 'UNIQUE '}INDEX ON ${quotedPath(table)} ("${column}");`;
  return warning(`${place} has ${problem}.`, cure);
}

/** Whether the first part is the column, or an expression of it alone, such as `lower((email)::text)`. */
function isAbout({ first, column }: UserIndex): boolean {
  const name = column.replaceAll(/\W/g, '\\$&');
  return new RegExp(`^(\\w*\\()*${name}(\\)|::[\\w ]+)*$`).test(first);
}

/** Whether an index has all rows that a login can find: those with an identifier, that are not soft-deleted. */
function hasAllRows({ predicate, column, deletedAt }: UserIndex): boolean {
  const conditions = predicate?.replaceAll(/^\(+|\)+$/g, '').split(/\)? AND \(?/) ?? [];
  const harmless = [`${column} IS NOT NULL`, ...(deletedAt === null ? [] : [`${deletedAt} IS NULL`])];
  return conditions.every((condition) => harmless.includes(condition));
}

/** Rows that are read of a table of users. Their hashes have about two megabytes. */
const HASHES_READ = 20_000;

/** Counts the stored hashes that no verifier accepts. Their users are answered as for a wrong password. No hash is printed. */
export async function hashChecks(database: Database, config?: AuthConfig): Promise<Finding[]> {
  const { verifiers = [] } = config?.hashing ?? {};
  const tables = new Map((await userTables(database, config)).map(({ metadata }) => [metadata.tablePath, metadata]));
  const checks = [...tables.values()].map(async ({ tablePath, columns }): Promise<Finding[]> => {
    const column = columns.find(({ propertyName }) => propertyName === 'passwordHash');
    // The database does not contain the hash itself where the entity transforms it.
    if (!column || column.transformer) return [];
    const [table, name] = [quotedPath(tablePath), `"${column.databaseName}"`];
    try {
      const rows = await database.query<{ hash: string }>(
        `SELECT hash FROM (SELECT ${name} AS hash FROM ${table} LIMIT ${HASHES_READ}) AS read WHERE hash IS NOT NULL`,
      );
      const refused = rows.filter(({ hash }) => !acceptsHash(hash, verifiers)).length;
      const place = `${tablePath}.${column.databaseName}`;
      if (refused === 0) return found('hashes', ok(`All hashes of ${place} can be verified.`));
      const message = `${place} has ${refused} hashes that no verifier accepts, among ${HASHES_READ} rows at most: these users cannot sign in with their passwords.`;
      const cure = `Add the verifier of their kind to hashing.verifiers, or let the users reset their passwords. The kinds: SELECT left(${name}, 7), count(*) FROM ${table} GROUP BY 1;`;
      return found('hashes', warning(message, cure));
    } catch (failure) {
      return found('hashes', skipped(`The hashes of ${tablePath} could not be read: ${messageOf(failure)}`));
    }
  });
  return (await Promise.all(checks)).flat();
}

/** A stored email, with the id of its user as PostgreSQL prints it. */
interface StoredEmail {
  readonly id: string;
  readonly email: string;
  /** Whether the look-up distinguishes it from its lower case without spaces. A `citext` ignores case. */
  readonly isDistinct: boolean;
}

/** The most stored emails that are examined. */
const EXAMINED = 10_000;

/** The most ids that a finding names. */
const NAMED = 10;

/** Whether a look-up finds each stored email by its canonical form, and no other account by it. It reads the whole table. */
export async function emailChecks(database: Database, config?: AuthConfig): Promise<Finding[]> {
  const tables = new Map((await userTables(database, config)).map(({ metadata }) => [metadata.tablePath, metadata]));
  const checks = [...tables.values()].map(async (metadata): Promise<UnnamedFinding[]> => {
    const column = metadata.findColumnWithPropertyName('email');
    if (!column || !storesText(column)) return [];
    const table = quotedPath(metadata.tablePath);
    const [id, email] = [idColumnOf(metadata), column].map(({ databaseName }) => quoted(databaseName)) as [
      string,
      string,
    ];
    const place = `${metadata.tablePath}.${column.databaseName}`;
    const deletedAt = metadata.deleteDateColumn?.databaseName;
    const isDistinct = `${email} <> lower(btrim(${email}))`;
    const select = (where: string): string =>
      `SELECT ${id}::text AS id, ${email}::text AS email, ${isDistinct} AS "isDistinct" FROM ${table}
        WHERE ${where}${deletedAt === undefined ? '' : ` AND ${quoted(deletedAt)} IS NULL`} ORDER BY ${id} LIMIT ${EXAMINED}`;
    try {
      return await database.source.transaction(async (manager) => {
        // Longer than the limit of a request: the statement uses no index.
        await manager.query("SET LOCAL statement_timeout = '30s'");
        const unusual: StoredEmail[] = await manager.query(
          select(`(${isDistinct} OR ${email}::text COLLATE "C" ~ '[^!-~]' OR ${email}::text COLLATE "C" ~* 'xn--')`),
        );
        const forms = unusual.map((one) => canonicalEmail(one.email));
        const plain: StoredEmail[] = await manager.query(select(`${email}::text = ANY($1)`), [forms]);
        const rows = `SELECT ${id}, ${email} FROM ${table} WHERE ${id}`;
        const problems = [
          ...sharedMailboxes([...unusual, ...plain], place, rows),
          ...unfindable(unusual, place, { table, email }),
        ];
        return problems.length ? problems : [ok(`${place} has one account for each mailbox, found in every spelling.`)];
      });
    } catch (failure) {
      return [skipped(`Not checked: ${place} cannot be read: ${(failure as Error).message}`)];
    }
  });
  return found('emails', ...(await Promise.all(checks)).flat());
}

/** The rows of one mailbox that no other spelling than their own distinguishes. */
function sharedMailboxes(rows: readonly StoredEmail[], place: string, select: string): UnnamedFinding[] {
  const byMailbox = new Map<string, Map<string, StoredEmail>>();
  for (const row of rows) {
    const canonical = canonicalEmail(row.email);
    byMailbox.set(canonical, (byMailbox.get(canonical) ?? new Map<string, StoredEmail>()).set(row.id, row));
  }
  const shared = [...byMailbox.values()].filter(({ size }) => size > 1);
  if (!shared.length) return [];
  const ids = shared.flatMap((accounts) => [...accounts.keys()]);
  const list = ids.slice(0, NAMED).map(literal).join(', ');
  const message =
    `${place} has ${shared.length} ${shared.length === 1 ? 'mailbox' : 'mailboxes'} with several accounts, whose emails differ in ` +
    'case or in the spelling of a letter. A person signs in to the one that is spelled as it was typed; if none is, to none.';
  return [
    warning(message, `Keep one account of each, and change or delete the others: ${select} IN (${list});${more(ids)}`),
  ];
}

/** The rows that are found only if a person types capitals or spaces as they are stored. */
function unfindable(
  rows: readonly StoredEmail[],
  place: string,
  { table, email }: { table: string; email: string },
): UnnamedFinding[] {
  const isFound = ({ email: stored, isDistinct }: StoredEmail): boolean =>
    emailSpellings(canonicalEmail(stored)).includes(isDistinct ? stored : foldedIdentifier(stored));
  const lost = rows.filter((row) => !isFound(row));
  if (!lost.length) return [];
  const lower = `lower(btrim(${email}))`;
  const form = lost.some((row) => /[^\0-\x7f]/.test(row.email)) ? `normalize(${lower})` : lower;
  const count = rows.length === EXAMINED ? `at least ${lost.length}` : lost.length;
  const message =
    `${place} has ${count} ${lost.length === 1 ? 'email' : 'emails'} with capitals, spaces or a decomposed letter. Each signs in only ` +
    'if it is typed as it is stored, and its mailbox can be registered again.';
  const cure =
    `UPDATE ${table} SET ${email} = ${form} WHERE ${email} <> ${form} AND ${form} NOT IN ` +
    `(SELECT ${form} FROM ${table} WHERE ${email} IS NOT NULL GROUP BY 1 HAVING count(*) > 1);`;
  return [warning(message, cure)];
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const more = (ids: readonly string[]): string => (ids.length > NAMED ? ` There are ${ids.length - NAMED} more.` : '');

const RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
type Right = (typeof RIGHTS)[number];

/** The rights on the table of users, each with what needs it. A right on single columns counts: a host may grant no more. */
export async function userRights(database: Database, config?: AuthConfig): Promise<Finding[]> {
  if (!config || config.verifyOnly) return [];
  const checks = (await userTables(database, config)).map(async ({ guard, metadata }) => {
    const [has] = await database.query<Record<Right, boolean | null>>(
      `SELECT ${RIGHTS.map((right) => `${privilege(right)} AS "${right}"`).join(', ')}
         FROM (SELECT to_regclass($1) AS relation) AS of_users`,
      [quotedPath(metadata.tablePath)],
    );
    const missing = neededRights(guard)
      .filter(([right]) => has?.[right] === false)
      .map(([right, reason]) =>
        error(
          `The role of the application may not ${right} rows of ${metadata.tablePath}, which ${reason} needs.`,
          `GRANT ${right} ON ${quotedPath(metadata.tablePath)} TO the role.`,
        ),
      );
    return found('tables', ...missing);
  });
  return (await Promise.all(checks)).flat();
}

const privilege = (right: Right): string =>
  right === 'DELETE' ? `has_table_privilege(relation, 'DELETE')` : `has_any_column_privilege(relation, '${right}')`;

/** The rights that the features of a guard need, each with the first feature that needs it. */
function neededRights(guard: GuardConfig): [Right, string][] {
  const needed = new Map<Right, string>([['SELECT', 'every login']]);
  for (const { flags = [], writesUsers } of FEATURES) {
    const flag = flags.find((name) => guard.features[name]);
    const right = flag && writesUsers?.(guard);
    if (right && !needed.has(right)) needed.set(right, `features.${flag}`);
  }
  return [...needed];
}
