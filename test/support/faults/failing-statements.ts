import type { TestApp } from '../hosts/app';

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

export interface Conflicts {
  /** The number of statements so far. It also counts those that failed. */
  attempts: () => Promise<number>;
  end: () => Promise<unknown>;
}

/**
 * Makes PostgreSQL roll back the first `count` transactions with a statement of a kind, as when they conflict with other
 * transactions.
 *
 * @param kind as for {@link failStatements}
 * @param code a serialization failure (40001) or a deadlock (40P01)
 * @param atCommit whether the transaction fails at its commit, after all its statements
 */
export async function causeConflicts(
  { database }: TestApp,
  count: number,
  kind: string,
  code = '40001',
  atCommit = false,
): Promise<Conflicts> {
  const trigger = atCommit
    ? `CONSTRAINT TRIGGER svc_test_refuse AFTER ${kind} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW`
    : `TRIGGER svc_test_refuse BEFORE ${kind} FOR EACH STATEMENT`;
  // A rollback does not change a sequence back.
  await database.query(`
    CREATE SEQUENCE svc_test_attempts;
    CREATE FUNCTION svc_test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('svc_test_attempts') <= ${count} THEN RAISE 'a conflict' USING ERRCODE = '${code}'; END IF;
      RETURN NEW;
    END $$;
    CREATE ${trigger} EXECUTE FUNCTION svc_test_refuse()`);
  return {
    attempts: async () => Number((await database.query('SELECT last_value AS n FROM svc_test_attempts'))[0].n),
    end: () => database.query('DROP FUNCTION svc_test_refuse CASCADE; DROP SEQUENCE svc_test_attempts'),
  };
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
