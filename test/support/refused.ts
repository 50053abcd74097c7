import type { TestApp } from './app';

/**
 * The database refuses statements, as one that shuts down, until the returned function is called.
 *
 * @param statements as in CREATE TRIGGER: `DELETE ON passkeys`, `UPDATE OF email ON members`
 */
export async function refuse({ database }: TestApp, statements: string): Promise<() => Promise<unknown>> {
  await database.query(`
    CREATE FUNCTION svc_test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE 'the database system is shutting down' USING ERRCODE = 'cannot_connect_now';
    END $$;
    CREATE TRIGGER svc_test_refuse BEFORE ${statements} FOR EACH STATEMENT EXECUTE FUNCTION svc_test_refuse()`);
  return () => database.query('DROP FUNCTION svc_test_refuse CASCADE');
}

/** Refuses them while `work` is done. */
export async function whileRefused(t: TestApp, statements: string, work: () => PromiseLike<unknown>): Promise<void> {
  const allow = await refuse(t, statements);
  try {
    await work();
  } finally {
    await allow();
  }
}
