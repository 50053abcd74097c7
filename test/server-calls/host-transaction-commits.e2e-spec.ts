import {
  AuthConfigError,
  Pruning,
  SecurityStore,
  SessionEnded,
  TwoFactor,
  TwoFactorEnabled,
  Unauthenticated,
} from '@svc/auth';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { ADA } from '../support/flows/step-up';
import { claimsOf } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { deniedKey } from '../support/stores/denylist-state';
import { member, membersForFile } from '../support/hosts/members';

const { t } = membersForFile({ features: { twoFactor: true } });
let id: string;
beforeEach(async () => (id = await member(t, ADA)));

const source = (): DataSource => t.app.get(DataSource);
const isLive = async (access: string): Promise<boolean> => {
  const found = 'SELECT FROM svc_sessions WHERE id = $1 AND revoked_at IS NULL';
  return (await t.database.query(found, [claimsOf(access).fid])).length > 0;
};
const isDenied = async (access: string): Promise<boolean> => {
  const [denial] = await t.app.get(SecurityStore).getMany([deniedKey(claimsOf(access).fid)]);
  return denial !== null;
};

/** Runs `work` with a client of the package pg, after BEGIN. */
async function withClient(work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: t.databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    await work(client);
  } finally {
    await client.end();
  }
}

/** Takes all connections of the pool of the application, so that what follows a commit waits. */
async function withoutPool(work: () => Promise<void>): Promise<void> {
  const { options } = (source().driver as unknown as { master: { options: { max: number } } }).master;
  const runners = Array.from({ length: options.max }, () => source().createQueryRunner());
  await Promise.all(runners.map((runner) => runner.connect()));
  try {
    await work();
  } finally {
    await Promise.all(runners.map((runner) => runner.release()));
  }
}

describe('the second end of sessions, after the commit of the host', () => {
  const ends: [string, () => Promise<void>][] = [
    ['revokeAll', () => t.auth.revokeAll(id)],
    ['revokeOthers', () => t.auth.revokeOthers(id, '00000000-0000-4000-8000-000000000000')],
  ];

  it.each(ends)('of %s does not end a session that starts after the commit, also when it is late', async (_, end) => {
    let accessToken!: string;
    await withoutPool(() =>
      withClient(async (first) => {
        await t.auth.within(first, end);
        await first.query('COMMIT');
        await withClient(async (second) => {
          await second.query('SELECT pg_sleep(0.1)');
          ({ accessToken } = await t.auth.within(second, () => t.auth.startSession(id)));
          await second.query('COMMIT');
        });
      }),
    );
    await t.auth.settled();
    expect(await isLive(accessToken)).toBe(true);
  });

  it.each(ends)('of %s ends a session that another request has started before the commit', async (_, end) => {
    let access!: string;
    await withClient(async (client) => {
      await t.auth.within(client, end);
      access = (await t.session()).access_token;
      await client.query('COMMIT');
    });
    await t.auth.settled();
    expect(await isLive(access)).toBe(false);
  });
});

describe('an end of sessions during which the host ends its transaction', () => {
  it.each(['COMMIT', 'ROLLBACK'])('by %s: a session that has ended has its denial and its event', async (command) => {
    const ended = t.recorded(SessionEnded);
    for (let place = 0; ; place++) {
      let sent = 0;
      const { accessToken } = await t.auth.startSession(id);
      const familyId = String(claimsOf(accessToken).fid);
      await withClient(async (client) => {
        const query = client.query.bind(client) as (...values: unknown[]) => Promise<unknown>;
        client.query = ((...values: unknown[]) => {
          // The client sends it before the next statement of the library.
          if (sent++ === place) void query(command);
          return query(...values);
        }) as never;
        await t.auth.within(client, () => t.auth.revoke(familyId)).catch(() => undefined);
        await query(command);
      });
      await t.auth.settled();
      const isKept = await isLive(accessToken);
      const wanted = command === 'ROLLBACK' || isKept;
      const events = ended.filter((event) => event.familyId === familyId).length;
      expect([place, isKept, await isDenied(accessToken), events]).toEqual([place, wanted, !wanted, wanted ? 0 : 1]);
      if (sent <= place) break;
    }
  });
});

describe('in a transaction of the host', () => {
  it.each(['injected', 'kept'])('a service that is %s is refused, and changes nothing', async (kind) => {
    const service = kind === 'kept' ? t.auth.twoFactor : t.app.get(TwoFactor, { strict: false });
    const enabled = t.recorded(TwoFactorEnabled);
    const importing = t.auth.transaction(() =>
      service.importFactor(id, { secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', recoveryCodeHashes: [] }),
    );
    await expect(importing).rejects.toThrow('cannot be part of a transaction');
    expect([await service.isEnabled(id), enabled]).toEqual([false, []]);
  });

  it('pruning is refused', async () => {
    const pruning = t.auth.transaction(() => t.app.get(Pruning).run());
    await expect(pruning).rejects.toThrow('cannot be part of a transaction');
  });

  it('the caller of a request is read, also before and after an end of the session', async () => {
    const { accessToken } = await t.auth.startSession(id);
    const callerOf = () => t.auth.callerOf({ headers: { authorization: `Bearer ${accessToken}` } });
    await t.auth.transaction(async () => {
      expect(await callerOf()).toMatchObject({ userId: id });
      await t.auth.revokeAll(id);
      await expect(callerOf()).rejects.toThrow(Unauthenticated);
    });
  });

  it.each([undefined, null])('%s is no connection', async (none) => {
    const begun = t.auth.within(none as unknown as object, () => t.auth.startSession(id));
    await expect(begun).rejects.toThrow(AuthConfigError);
  });
});

it('while a denial cannot be written after the commit, the events follow, and the other denials', async () => {
  const sessions = [await t.auth.startSession(id), await t.auth.startSession(id)];
  const [first, second] = sessions.map(({ accessToken }) => String(claimsOf(accessToken).fid)) as [string, string];
  const ended = t.recorded(SessionEnded);
  const store = t.app.get(SecurityStore);
  const setMany = store.setMany.bind(store);
  let isRefusing = true;
  store.setMany = async (keys, ...rest) => {
    if (isRefusing && keys.includes(deniedKey(first)))
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    return setMany(keys, ...rest);
  };
  try {
    await source().transaction((manager) =>
      t.auth.within(manager, async () => {
        await t.auth.revoke(first);
        await t.auth.revoke(second);
      }),
    );
    await eventually(() => isDenied(sessions[1]!.accessToken));
    expect(ended.map(({ familyId }) => familyId)).toEqual([first, second]);
  } finally {
    isRefusing = false;
    await t.auth.settled();
    Reflect.deleteProperty(store, 'setMany');
  }
  expect(await isDenied(sessions[0]!.accessToken)).toBe(true);
});
