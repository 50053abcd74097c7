import { SoftAuthenticator } from '@svc/auth/testing';
import { Client } from 'pg';
import { claimsOf } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { ORIGIN, PasskeyApp } from '../support/flows/passkeys';

describe('a passkey that is added while its session ends', () => {
  const app = PasskeyApp.forFile();

  it('waits for the end by the row of the session, independent of advisory locks, and is not stored', async () => {
    const { t } = app;
    const user = await app.confirmed();
    const credential = new SoftAuthenticator(ORIGIN).create(await app.creationOptions(user));
    const other = new Client({ connectionString: t.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('UPDATE svc_sessions SET revoked_at = now() WHERE id = $1', [claimsOf(user.access_token).fid]);
    let status: number | undefined;
    const added = app.register(user, credential).then((answer) => (status = answer.status));
    await eventually(async () => {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      return status !== undefined || (await t.database.query(waiting)).length > 0;
    });
    expect(status).toBeUndefined();
    await other.query('COMMIT');
    await other.end();
    await added;
    expect([status, await app.rows()]).toEqual([401, []]);
  });
});
