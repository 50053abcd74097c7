import type { TestApp } from '../hosts/app';

/** The tables that contain one of the texts in any column. The search ignores case. */
export async function tablesContaining(t: TestApp, texts: readonly string[]): Promise<string[]> {
  const tables: { name: string }[] = await t.database.query(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [{ hits }] = await t.database.query(
      `SELECT count(*)::int AS hits FROM "${name}" r, unnest($1::text[]) wanted
        WHERE position(lower(wanted) IN lower(r::text)) > 0`,
      [texts],
    );
    if (hits > 0) found.push(name);
  }
  return found;
}
