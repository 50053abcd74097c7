import { Logger } from '@nestjs/common';
import {
  COMPLETE,
  LEASE,
  READS_BATCH,
  deniedKey,
  onStatement,
  storeEnded,
} from '../../../../../test/support/stores/denylist-state';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { fillAnew, recordStatements, shareOfIndexRead } from '../../../../../test/support/stores/query-plans';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import { BATCH, Nodes, keysOf } from './nodes.testkit';

/** Seconds that an access token of the test host may be presented, with leeway and a minute for clock differences. */
const LIFE = 900 + 5 + 60;

describeWithOwnRedis('the monitor of the denylist', () => {
  const nodes = Nodes.forFile();
  const { t } = nodes;

  describe('of a store that has lost the denials', () => {
    it('writes in batches every denial that can still apply to a token, and marks the store complete', async () => {
      const ids = await storeEnded(t.database, 2 * BATCH + 500, LIFE - 60);
      await storeEnded(t.database, 10, 30).then((old) =>
        t.database.query(`UPDATE svc_sessions SET revoked_at = now() - $2 * interval '1 second' WHERE id = ANY($1)`, [
          old,
          LIFE + 1,
        ]),
      );
      await nodes.storeLive();
      const { monitor, ended, store, isComplete } = await nodes.start();
      const read = jest.spyOn(ended, 'since');
      const written = jest.spyOn(store, 'setMany');
      expect(await isComplete()).toBe(false);
      await monitor.look();
      expect(await isComplete()).toBe(true);
      expect(await nodes.denied()).toEqual(keysOf(ids));
      expect(read).toHaveBeenCalledTimes(4);
      expect(Math.max(...written.mock.calls.map(([keys]) => keys.length))).toBe(BATCH);
    });

    it('writes each denial with a time to live until its last token expires', async () => {
      const ids = await storeEnded(t.database, BATCH + 1, 500);
      const { monitor } = await nodes.start();
      const before = performance.now();
      await monitor.look();
      const times: { id: string; seconds: number }[] = await t.database.query(
        `SELECT id, extract(epoch FROM revoked_at + $1 * interval '1 second' - now())::float8 AS seconds
           FROM svc_sessions`,
        [LIFE],
      );
      const left = new Map(times.map(({ id, seconds }) => [id, seconds]));
      for (const id of ids) {
        const seconds = (await nodes.client.pTTL(deniedKey(id))) / 1000;
        const elapsed = (performance.now() - before) / 1000;
        expect(seconds).toBeGreaterThanOrEqual(left.get(id)! - elapsed - 1);
        expect(seconds).toBeLessThanOrEqual(LIFE);
      }
    });

    it('writes every denial when thousands of sessions ended at the same time', async () => {
      const ids = await storeEnded(t.database, 2 * BATCH + 1);
      await t.database.query('UPDATE svc_sessions SET revoked_at = now()');
      await (await nodes.start()).monitor.look();
      expect(await nodes.denied()).toEqual(keysOf(ids));
    });

    it('does not read the earlier batches again with each batch', async () => {
      await fillAnew(t.database, 'svc_sessions', () => storeEnded(t.database, 20 * BATCH));
      const { statements, stop } = recordStatements();
      await (await nodes.start()).monitor.look();
      stop();
      const batches = statements.filter(({ text }) => READS_BATCH.test(text));
      expect(batches).toHaveLength(21);
      const shares = [batches.at(0)!, batches.at(-2)!].map((batch) =>
        shareOfIndexRead(t.databaseUrl, batch, 'svc_sessions_revoked'),
      );
      for (const share of await Promise.all(shares)) expect(share).toBeLessThan(0.25);
    });

    it('reads the ended sessions only once, also when several nodes check the store', async () => {
      await storeEnded(t.database, 10);
      const [one, other] = [await nodes.start(), await nodes.start()];
      await one.monitor.look();
      const reads = [one, other].map(({ ended }) => jest.spyOn(ended, 'since'));
      for (const { monitor, isComplete } of [other, one, other]) {
        await monitor.look();
        expect(await isComplete()).toBe(true);
      }
      for (const read of reads) expect(read).not.toHaveBeenCalled();
    });

    it('writes the denials on only one of several nodes', async () => {
      const ids = await storeEnded(t.database, 3 * BATCH);
      const all = await Promise.all(Array.from({ length: 5 }, () => nodes.start()));
      const reads = all.map(({ ended }) => jest.spyOn(ended, 'since'));
      await Promise.all(all.map(({ monitor }) => monitor.look()));
      for (const { isComplete } of all) expect(await isComplete()).toBe(true);
      expect(await nodes.denied()).toEqual(keysOf(ids));
      expect(reads.filter(({ mock }) => mock.calls.length > 0)).toHaveLength(1);
    });

    it('writes nothing if another node finished just before this node acquired the lease', async () => {
      await storeEnded(t.database, 10);
      const [one, other] = [await nodes.start(), await nodes.start()];
      const add = one.store.add.bind(one.store);
      jest.spyOn(one.store, 'add').mockImplementation(async (key, ...rest) => {
        if (key === LEASE) await other.monitor.look();
        return add(key, ...rest);
      });
      const reads = [one, other].map(({ ended }) => jest.spyOn(ended, 'since'));
      await one.monitor.look();
      expect(reads.map(({ mock }) => mock.calls.length)).toEqual([0, 2]);
      expect(await nodes.client.exists(LEASE)).toBe(0);
    });

    it('runs one check at a time for many concurrent calls', async () => {
      await storeEnded(t.database, BATCH);
      const { monitor, ended } = await nodes.start();
      const read = jest.spyOn(ended, 'since');
      await Promise.all(Array.from({ length: 10 }, () => monitor.look()));
      expect(read).toHaveBeenCalledTimes(2);
    });
  });

  describe('while another node writes the denials', () => {
    it('waits, and takes over when the lease of that node expires', async () => {
      const ids = await storeEnded(t.database, 10);
      await nodes.client.set(LEASE, 'another node', { PX: 60_000 });
      const { monitor, isComplete } = await nodes.start();
      await monitor.look();
      expect(await isComplete()).toBe(false);
      expect(await nodes.denied()).toEqual([]);
      await nodes.client.pExpire(LEASE, 1);
      await eventually(async () => (await nodes.client.exists(LEASE)) === 0);
      await monitor.look();
      expect(await isComplete()).toBe(true);
      expect(await nodes.denied()).toEqual(keysOf(ids));
    });

    it('renews the lease at each batch, and releases it at the end', async () => {
      await storeEnded(t.database, 3 * BATCH);
      const left: number[] = [];
      const holders: string[] = [];
      onStatement(READS_BATCH, async () => {
        left.push(await nodes.client.pTTL(LEASE));
        holders.push((await nodes.client.get(LEASE))!);
        // Without a renewal the lease would keep this value.
        await nodes.client.pExpire(LEASE, 60_000);
      });
      await (await nodes.start()).monitor.look();
      expect(left).toHaveLength(4);
      for (const ms of left) expect(ms).toBeLessThanOrEqual(5000);
      expect(new Set(holders).size).toBe(1);
      expect(await nodes.client.exists(LEASE)).toBe(0);
    });

    it('leaves the store complete if both nodes write', async () => {
      const ids = await storeEnded(t.database, 3 * BATCH);
      const [one, other] = [await nodes.start(), await nodes.start()];
      let batches = 0;
      onStatement(READS_BATCH, async () => {
        // The lease of the first node expires before its work is complete, as after a pause of its process.
        if (batches++ !== 1) return;
        await nodes.client.del(LEASE);
        await other.monitor.look();
      });
      await one.monitor.look();
      expect(batches).toBe(8);
      for (const { isComplete } of [one, other]) expect(await isComplete()).toBe(true);
      expect(await nodes.denied()).toEqual(keysOf(ids));
    });
  });

  describe('of a store that loses data', () => {
    it.each([
      ['before the first batch is written', 1],
      ['between two batches', 2],
      ['after the last batch', 4],
    ])('%s does not mark it complete, and writes everything in the next check', async (_, at) => {
      const ids = await storeEnded(t.database, 3 * BATCH);
      const { monitor, isComplete } = await nodes.start();
      let batches = 0;
      onStatement(READS_BATCH, async () => void (++batches === at && (await nodes.client.flushAll())));
      await monitor.look();
      expect(await isComplete()).toBe(false);
      await monitor.look();
      expect(await isComplete()).toBe(true);
      expect(await nodes.denied()).toEqual(keysOf(ids));
    });

    it('after it was complete writes everything again', async () => {
      const ids = await storeEnded(t.database, 10);
      const { monitor, isComplete } = await nodes.start();
      for (let round = 0; round < 3; round++) {
        await monitor.look();
        expect(await isComplete()).toBe(true);
        expect(await nodes.denied()).toEqual(keysOf(ids));
        await nodes.client.flushAll();
        expect(await isComplete()).toBe(false);
      }
    });

    it('sets the mark again when only the mark was lost', async () => {
      const { monitor, isComplete } = await nodes.start();
      await monitor.look();
      await nodes.client.del(COMPLETE);
      expect(await isComplete()).toBe(false);
      await monitor.look();
      expect(await isComplete()).toBe(true);
    });
  });

  describe('of a node that closes', () => {
    it('stops after the current batch, does not mark the store complete, and releases the lease for another node', async () => {
      const ids = await storeEnded(t.database, 3 * BATCH);
      const [closing, other] = [await nodes.start(), await nodes.start()];
      let closed: Promise<void> | undefined;
      let batches = 0;
      onStatement(READS_BATCH, async () => {
        batches++;
        closed ??= closing.monitor.onModuleDestroy();
      });
      await closing.monitor.look();
      await closed;
      expect(batches).toBe(1);
      expect(await other.isComplete()).toBe(false);
      expect(await nodes.client.exists(LEASE)).toBe(0);
      await other.monitor.look();
      expect(await other.isComplete()).toBe(true);
      expect(await nodes.denied()).toEqual(keysOf(ids));
    });

    it('completes the current check first, and runs no further check', async () => {
      await storeEnded(t.database, 10);
      const { monitor, ended, isComplete } = await nodes.start();
      const looking = monitor.look();
      let isDone = false;
      void looking.then(() => (isDone = true));
      await monitor.onModuleDestroy();
      expect(isDone).toBe(true);
      const read = jest.spyOn(ended, 'since');
      await nodes.client.flushAll();
      await monitor.look();
      expect(read).not.toHaveBeenCalled();
      expect(await isComplete()).toBe(false);
    });
  });

  describe('with an unavailable store or database', () => {
    it('logs nothing while the store does not answer, and repairs it when it answers again', async () => {
      await storeEnded(t.database, 10);
      const logged = jest.spyOn(Logger.prototype, 'error');
      const { monitor, store, isComplete } = await nodes.start({ storeTimeoutMs: 5000 });
      await nodes.client.sendCommand(['ACL', 'SETUSER', 'default', '-set', '-mget']);
      await monitor.look();
      await nodes.client.sendCommand(['ACL', 'SETUSER', 'default', '+set', '+mget']);
      await store.identify();
      await monitor.look();
      expect(await isComplete()).toBe(true);
      expect(logged).not.toHaveBeenCalled();
    });

    it('leaves the store incomplete if PostgreSQL fails in the middle, and logs an unknown error', async () => {
      await storeEnded(t.database, 3 * BATCH);
      const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
      const { monitor, ended, isComplete } = await nodes.start();
      const since = ended.since.bind(ended);
      let batches = 0;
      const failing = jest.spyOn(ended, 'since').mockImplementation((...args) => {
        if (++batches === 2) throw new Error('something new');
        return since(...args);
      });
      await monitor.look();
      expect(await isComplete()).toBe(false);
      expect(logged).toHaveBeenCalledWith(expect.stringContaining('something new'), expect.anything());
      expect(await nodes.client.exists(LEASE)).toBe(0);
      failing.mockRestore();
      await monitor.look();
      expect(await isComplete()).toBe(true);
    });
  });

  describe('of a process without routes', () => {
    it('writes the denials of its own sessions', async () => {
      await nodes.storeLive();
      const ids = await storeEnded(t.database, 10);
      const { monitor, isComplete } = await nodes.start({ routes: false });
      await monitor.look();
      expect(await isComplete()).toBe(true);
      expect(await nodes.denied()).toEqual(keysOf(ids));
    });

    it('that only verifies does not mark the store complete, whatever its table contains', async () => {
      await storeEnded(t.database, 1);
      const { monitor, isComplete } = await nodes.start({ verifyOnly: true });
      await monitor.look();
      expect(await isComplete()).toBe(false);
    });
  });

  describe('with an application clock that differs from the database clock', () => {
    it('leaves out the sessions whose last token has expired by the application clock', async () => {
      const ids = await storeEnded(t.database, 10, 100);
      t.clock.advance(LIFE - 50);
      const { monitor } = await nodes.start();
      await monitor.look();
      const written = await nodes.denied();
      expect(written.length).toBeGreaterThan(0);
      expect(written.length).toBeLessThan(ids.length);
      expect(keysOf(ids)).toEqual(expect.arrayContaining(written));
    });
  });
});
