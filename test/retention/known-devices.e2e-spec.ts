import { Pruning } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { deviceRows, knownDeviceOptions, newDevice } from '../support/flows/known-devices';
import { member, membersForFile, startMembers } from '../support/hosts/members';
import type { TestApp } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';

const DAY = 86_400;

describe('a sweep of known devices', () => {
  const { t, mailbox } = membersForFile(knownDeviceOptions({ storeTimeoutMs: 20_000 }));
  const swept = async (app: TestApp = t): Promise<number> => (await app.app.get(Pruning).run()).knownDevices;
  const add = (userId: string, count: number, days: number, guard = 'api') =>
    t.database.query(
      `INSERT INTO svc_known_devices (id, guard, user_id, device_hash, session_id, first_seen_at, last_seen_at)
       SELECT gen_random_uuid(), $1, $2, gen_random_uuid()::text, gen_random_uuid(), now(), now() - $4 * interval '1 day'
         FROM generate_series(1, $3::int)`,
      [guard, userId, count, days],
    );

  it('deletes those without a sign-in for 400 days, in pages, except the last one of a user', async () => {
    const [ada, bob] = [await member(t, ADA), await member(t, 'bob@example.com')];
    await add(ada, 600, 401);
    await add(ada, 2, 399);
    await add(bob, 3, 500);
    expect(await swept()).toBe(602);
    const left = (await deviceRows(t)).map(({ user_id }) => user_id);
    expect(left.toSorted()).toEqual([ada, ada, bob].toSorted());
    expect(await swept()).toBe(0);
  });

  it('so a sign-in of an account that was not used for long is still mailed', async () => {
    await member(t, ADA);
    await newDevice(t);
    t.clock.advance(800 * DAY);
    expect(await swept()).toBe(0);
    await newDevice(t);
    expect((await mailbox.nth(1)).to).toBe(ADA);
  });

  it('deletes those of users that do not exist, at each guard, also with the feature off', async () => {
    const ada = await member(t, ADA);
    await add(ada, 1, 0);
    await add(randomUUID(), 2, 0);
    await add('7', 1, 0, 'admin');
    const off = await startMembers({}, { databaseUrl: t.databaseUrl });
    expect(await swept(off.t)).toBe(3);
    await t.database.query('ALTER TABLE svc_known_devices RENAME TO elsewhere');
    expect(await swept(off.t)).toBe(0);
    await t.database.query('ALTER TABLE elsewhere RENAME TO svc_known_devices');
    await off.t.stop();
    expect(await deviceRows(t)).toHaveLength(1);
  });
});
