import { StoreUnavailable } from '@svc/auth';
import { TestApp, type TestAppOptions, claimsOf } from '../hosts/app';
import { eventually } from '../runtime/eventually';
import { ADA } from '../flows/step-up';
import { TokenPolling, statusCheck } from '../clients/token-polling';
import type { VerifyingService } from '../hosts/verifying-service';

const BOB = 'bob@example.com';

/** Two issuing nodes and a verifying service on one Redis. */
export class Deployment {
  private constructor(
    readonly t: TestApp,
    readonly other: TestApp,
    readonly service: VerifyingService,
  ) {}

  static async start(
    stores: () => Promise<TestAppOptions>,
    verify: () => Promise<VerifyingService>,
  ): Promise<Deployment> {
    const issuing = async (more: TestAppOptions = {}): Promise<TestApp> => {
      const { options, ...rest } = await stores();
      return TestApp.start({ ...rest, ...more, options: { ...options, sessions: { maxPerUser: 0 } } });
    };
    const t = await issuing();
    const started = new Deployment(t, await issuing({ databaseUrl: t.databaseUrl }), await verify());
    await t.person(ADA);
    await t.person(BOB);
    return started;
  }

  sessions(userId: number, count: number): Promise<string[]> {
    return Promise.all(Array.from({ length: count }, async () => (await this.t.auth.startSession(userId)).accessToken));
  }

  /**
   * Ends every session of a user. Repeated while a store is unavailable: on a slow machine, sentinels take a busy server for a
   * dead one.
   */
  async end([token]: string[]): Promise<void> {
    const end = (): Promise<boolean> =>
      this.t.auth.revokeAll(String(claimsOf(token!).sub)).then(
        () => true,
        (error: unknown) => {
          if (error instanceof StoreUnavailable) return false;
          throw error;
        },
      );
    await eventually(end);
  }

  /** Sends all tokens to every node during the loss and until the denylist is complete again. */
  async expectNoneAccepted(
    tokens: { live: string[]; ended: string[] },
    lose: (watch: TokenPolling) => Promise<unknown>,
  ): Promise<void> {
    const checks = await Promise.all([this.t, this.other, this.service].map(({ app }) => statusCheck(app)));
    const watch = TokenPolling.start({ checks, ...tokens });
    await watch.rounds(1);
    await lose(watch);
    // A sharded store is repaired for some sessions earlier than for others.
    for (const token of tokens.live) await this.service.opened(token);
    await watch.rounds(1);
    for (const check of await watch.stop()) {
      expect([...check.ended].filter((status) => ![401, 503].includes(status))).toEqual([]);
      expect([...check.live].filter((status) => ![200, 503].includes(status))).toEqual([]);
    }
    for (const check of checks) {
      expect(new Set(await Promise.all(tokens.ended.map(check)))).toEqual(new Set([401]));
      expect(new Set(await Promise.all(tokens.live.map(check)))).toEqual(new Set([200]));
    }
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.other.stop();
    await this.t.stop();
  }
}
