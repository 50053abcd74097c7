import type { TestApp } from './app';

/**
 * Makes the database fail statements, as during a shutdown, until the returned function is called.
 *
 * @param statements as in CREATE TRIGGER: `DELETE ON svc_passkeys`, `UPDATE OF email ON members`
 */
export async function failStatements({ database }: TestApp, ...statements: string[]): Promise<() => Promise<unknown>> {
  await database.query(`
    CREATE FUNCTION svc_test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE 'the database system is shutting down' USING ERRCODE = 'cannot_connect_now';
    END $$`);
  for (const kind of statements) {
    await database.query(
      `CREATE TRIGGER svc_test_refuse BEFORE ${kind} FOR EACH STATEMENT EXECUTE FUNCTION svc_test_refuse()`,
    );
  }
  return () => database.query('DROP FUNCTION svc_test_refuse CASCADE');
}

/**
 * Makes the database fail statements after `count` changed rows, until the returned function is called.
 *
 * @param kind as for {@link failStatements}
 */
export async function failStatementsAfter(
  { database }: TestApp,
  count: number,
  kind: string,
): Promise<() => Promise<unknown>> {
  await database.query(`
    CREATE SEQUENCE svc_test_passed;
    CREATE FUNCTION svc_test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('svc_test_passed') > ${count} THEN
        RAISE 'the database system is shutting down' USING ERRCODE = 'cannot_connect_now';
      END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER svc_test_refuse BEFORE ${kind} FOR EACH ROW EXECUTE FUNCTION svc_test_refuse()`);
  return () => database.query('DROP FUNCTION svc_test_refuse CASCADE; DROP SEQUENCE svc_test_passed');
}

/** Fails statements while `work` runs. */
export async function whileStatementsFail(
  t: TestApp,
  statements: string,
  work: () => PromiseLike<unknown>,
): Promise<void> {
  const allow = await failStatements(t, statements);
  try {
    await work();
  } finally {
    await allow();
  }
}
