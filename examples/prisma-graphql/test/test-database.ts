import { execFileSync } from 'node:child_process';
import { Client } from 'pg';

const onServer = async (url: string, statement: string): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
};

/**
 * Creates a database beside that of DATABASE_URL, runs the script `setup` on it, and sets DATABASE_URL to it: a provider with a
 * mistake can change or delete all users of the database of its test.
 *
 * @returns a function that drops the database
 */
export async function useNewDatabase(): Promise<() => Promise<void>> {
  const url = process.env.DATABASE_URL!;
  const name = `contract_${Date.now()}_${process.pid}`;
  const drop = () => onServer(url, `DROP DATABASE ${name} WITH (FORCE)`);
  await onServer(url, `CREATE DATABASE ${name}`);
  process.env.DATABASE_URL = Object.assign(new URL(url), {
    pathname: name,
  }).toString();
  try {
    execFileSync('npm', ['run', '--silent', 'setup'], { stdio: 'inherit' });
  } catch (error) {
    await drop();
    throw error;
  }
  return drop;
}
