import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { LEASE, deniedKey, storeEnded } from '../../../../../test/support/stores/denylist-state';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import { Database } from '../../foundation/platform/database';
import { BATCH, Nodes } from './nodes.testkit';

describeWithOwnRedis('the denylist monitor after a failover of PostgreSQL', () => {
  const nodes = Nodes.forFile();
  const { t } = nodes;

  const timelineKeys = () => nodes.client.keys('svc:db:*');
  const deny = (ids: readonly string[]): Promise<unknown> =>
    Promise.all(ids.map((id) => nodes.client.set(deniedKey(id), 'true', { EX: 600 })));

  it('ends in PostgreSQL the sessions that Redis denies, and no others', async () => {
    const lost = await nodes.storeLive(2);
    const [live] = await nodes.storeLive();
    const before = await storeEnded(t.database, 1);
    await deny([...lost, ...before, randomUUID()]);
    await (await nodes.start()).monitor.look();
    expect(await nodes.endedIds()).toEqual([...lost, ...before].toSorted());
    expect(await nodes.denied()).not.toContain(deniedKey(live));
  });

  it('stores the timeline under the name of the database, once for each timeline', async () => {
    const { monitor, ended } = await nodes.start();
    await monitor.look();
    const [{ name, file }] = await t.database.query(
      `SELECT system_identifier || ':' || current_database() AS name, pg_walfile_name(pg_current_wal_lsn()) AS file
         FROM pg_control_system()`,
    );
    expect(await timelineKeys()).toEqual([`svc:db:${name}`]);
    expect(await nodes.client.get(`svc:db:${name}`)).toBe(file.slice(0, 8));
    // Then the denials are compared again, twice at least in the life of a denial.
    expect(await nodes.client.ttl(`svc:db:${name}`)).toBeLessThanOrEqual(965 / 3);
    const end = jest.spyOn(ended, 'end');
    const live = await nodes.storeLive();
    await deny(live);
    await monitor.look();
    expect(end).not.toHaveBeenCalled();
    expect(await nodes.endedIds()).toEqual([]);
    // A timeline other than the stored one.
    await nodes.client.set(`svc:db:${name}`, '00000000');
    await monitor.look();
    expect(await nodes.endedIds()).toEqual(live);
    expect(await nodes.client.get(`svc:db:${name}`)).toBe(file.slice(0, 8));
  });

  it('ends thousands of sessions, and ignores ids that are not UUIDs', async () => {
    const lost = await nodes.storeLive(2 * BATCH + 1);
    await deny(['session 7', `sha256:${'f'.repeat(64)}`, '', ...lost]);
    await (await nodes.start()).monitor.look();
    expect(await nodes.endedIds()).toHaveLength(lost.length);
  });

  it('renews the lease also while it reads only keys of others', async () => {
    const others = Array.from({ length: 5000 }, (_, i) => nodes.client.set(`host:${i}`, 'x'));
    await Promise.all([...others, deny(await nodes.storeLive())]);
    const { monitor, store } = await nodes.start();
    const written = jest.spyOn(store, 'setMany');
    await monitor.look();
    const renewals = written.mock.calls.filter(([[key]]) => key === LEASE);
    // Redis reads about a thousand keys at a time.
    expect(renewals.length).toBeGreaterThanOrEqual(4);
  });

  it('waits for the node with the lease, and does not record the timeline if Redis was emptied during the scan', async () => {
    const lost = await nodes.storeLive();
    await deny(lost);
    await nodes.client.set(LEASE, 'another node', { PX: 60_000 });
    const { monitor, ended } = await nodes.start();
    await monitor.look();
    expect(await nodes.endedIds()).toEqual([]);
    await nodes.client.del(LEASE);
    const end = ended.end.bind(ended);
    const emptied = jest.spyOn(ended, 'end').mockImplementation(async (ids) => {
      // The store is emptied during the scan, so the scan is incomplete.
      await nodes.client.flushAll();
      return end(ids);
    });
    await monitor.look();
    expect(await timelineKeys()).toEqual([]);
    emptied.mockRestore();
    await monitor.look();
    expect(await timelineKeys()).toHaveLength(1);
  });

  it('does nothing on a standby, which may have fewer ends than the store', async () => {
    await storeEnded(t.database, 10);
    const lost = await nodes.storeLive();
    await deny(lost);
    const { monitor, ended, isComplete } = await nodes.start();
    const timeline = { database: 'a:b', timeline: '', isStandby: true };
    const timelineRead = jest.spyOn(ended, 'timeline').mockResolvedValue(timeline);
    await monitor.look();
    expect(await isComplete()).toBe(false);
    expect(await nodes.endedIds()).toHaveLength(10);
    expect(await timelineKeys()).toEqual([]);
    timelineRead.mockRestore();
    await monitor.look();
    expect(await isComplete()).toBe(true);
    expect(await nodes.endedIds()).toHaveLength(11);
  });

  it('does nothing on a standby that does not report its timeline', async () => {
    const { monitor, isComplete } = await nodes.start();
    const database = t.app.get(Database);
    const query = database.query;
    database.query = async (text, values) => {
      if (text.includes('pg_control_system')) throw Object.assign(new Error('permission denied'), { code: '42501' });
      return text === 'SELECT pg_is_in_recovery() AS is' ? ([{ is: true }] as never) : query(text, values);
    };
    try {
      await monitor.look();
      expect(await isComplete()).toBe(false);
    } finally {
      database.query = query;
    }
    await monitor.look();
    expect(await isComplete()).toBe(true);
  });

  it('marks the store complete if PostgreSQL reports no timeline, and ends the sessions that Redis denies', async () => {
    const lost = await nodes.storeLive();
    await deny(lost);
    const { monitor, ended, isComplete } = await nodes.start();
    jest.spyOn(ended, 'timeline').mockResolvedValue(null);
    await monitor.look();
    expect(await isComplete()).toBe(true);
    expect(await nodes.endedIds()).toEqual(lost);
  });

  it.each(['pg_control_system', 'pg_is_in_recovery'])(
    'warns once on an engine without %s, marks the store complete, and still reads which sessions have ended',
    async (missing) => {
      const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
      const database = t.app.get(Database);
      const query = database.query;
      database.query = async (text, values) => {
        if (text.includes(missing)) throw Object.assign(new Error(`no function ${missing}`), { code: '42883' });
        return query(text, values);
      };
      try {
        const [live] = await nodes.storeLive();
        const [over] = await storeEnded(t.database, 1);
        const { monitor, ended, isComplete } = await nodes.start();
        for (let i = 0; i < 3; i++) await monitor.look();
        expect(await isComplete()).toBe(true);
        expect([await ended.has(live!), await ended.has(over!), await ended.has(live!)]).toEqual([false, true, false]);
        const lines = warn.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('timeline'));
        expect(lines[0]).toContain(`does not report its timeline (no function ${missing})`);
        // The test host is another node with its own warning.
        expect(lines.length).toBeLessThanOrEqual(2);
      } finally {
        database.query = query;
      }
    },
  );
});
