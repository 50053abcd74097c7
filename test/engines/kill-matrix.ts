import { RefreshTokenReused } from '@svc/auth';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/runtime/eventually';
import { Customer } from './customer';
import type { Engine, KillableEngine } from './engine';
import { Load } from './load';
import { Account, type Node, TwoNodes, refreshOf } from './nodes';

/** An engine whose master can be killed. */
export interface Killable extends Omit<Engine, 'start'> {
  start(): Promise<KillableEngine>;
}

/** Three: the variants of a kill take turns by its number, and there are two or three of them. */
const KILLS = Number(process.env.ENGINE_KILLS ?? 3);
const CUSTOMERS = 6;

/** Answers that the customers get before a kill, between the loss of a standby and the kill, and without a master. */
const [ANSWERS_BEFORE, ANSWERS_LAGGING, ANSWERS_WITHOUT] = [150, 60, 40];

/** Seconds within which requests must succeed after the master is available again. A generous limit. */
const BACK_WITHIN = 20;

/** The seconds of one kill. */
interface Figures {
  /** Without a master: from the kill until the stores are available again. */
  away: number;
  /** From then until each kind of request succeeds on both nodes. */
  back: number;
}

/** Kills the master of an engine again and again while customers work on two nodes. */
export function killMatrix(engine: Killable): void {
  const suite = engine.missing ? describe.skip : describe;
  const needs = engine.missing ? ` (needs ${engine.missing})` : '';
  suite(`a killed master: ${engine.name}${needs}`, () => {
    const nodes = new TwoNodes();
    let running: KillableEngine;

    beforeAll(async () => {
      running = await engine.start();
      await nodes.start(running, { storeTimeoutMs: 800, sessions: { maxPerUser: 0 } });
    });
    afterAll(() => nodes.stop());

    it(`gives no wrong answer in ${KILLS} kills, only 503, and requests succeed soon afterwards`, async () => {
      const load = new Load(nodes);
      const reused = nodes.all.map(({ t }) => t.recorded(RefreshTokenReused));
      const customers: Customer[] = [];
      for (let i = 0; i < CUSTOMERS; i++) customers.push(await Customer.start(load, i === 0));
      const prober = await Prober.start(nodes);
      const working = Promise.all(customers.map((customer) => customer.run()));
      const figures: Figures[] = [];
      try {
        for (let round = 1; round <= KILLS; round++) {
          await answers(load, ANSWERS_BEFORE);
          figures.push(await killOnce(load, customers, running, prober, round));
          // At once, before the nodes have repaired what the stores lost, and later.
          await checked(load, customers);
          await answers(load, ANSWERS_BEFORE);
          await checked(load, customers);
          await running.repair?.(round);
        }
      } finally {
        load.isOver = true;
        await working;
      }
      print(engine.name, figures, load);
      expect(load.wrong).toEqual([]);
      expect(reused.flat()).toEqual([]);
      expect(Math.max(...figures.map(({ back }) => back))).toBeLessThan(BACK_WITHIN);
      // The load was interrupted, and there was something to check.
      expect(Math.min(...Object.values(load.counts))).toBeGreaterThan(0);
    }, 600_000);
  });
}

async function killOnce(
  load: Load,
  customers: readonly Customer[],
  engine: KillableEngine,
  prober: Prober,
  round: number,
): Promise<Figures> {
  if (engine.secure) {
    load.isLossy = true;
    await eventually(async () => !customers.some(({ changing }) => changing));
    await engine.secure();
  }
  await engine.prepare?.(round);
  await answers(load, ANSWERS_LAGGING);
  load.epoch++;
  const killed = performance.now();
  await engine.kill(() => answers(load, ANSWERS_WITHOUT), round);
  const available = performance.now();
  load.epoch++;
  load.isLossy = false;
  await prober.allSucceed();
  return { away: (available - killed) / 1000, back: (performance.now() - available) / 1000 };
}

/** Waits until the customers have got this many more answers. */
async function answers(load: Load, count: number): Promise<void> {
  const before = load.counts.answers;
  await eventually(async () => load.counts.answers >= before + count);
}

/** Checks everything that was acknowledged while no customer works. */
async function checked(load: Load, customers: readonly Customer[]): Promise<void> {
  load.isPaused = true;
  await eventually(async () => !customers.some(({ busy }) => busy));
  await Promise.all(customers.map((customer) => customer.check()));
  load.isPaused = false;
}

/** Finds out when both nodes answer each kind of request again. */
class Prober {
  private constructor(
    private readonly nodes: TwoNodes,
    private readonly account: Account,
  ) {}

  static async start(nodes: TwoNodes): Promise<Prober> {
    return new Prober(nodes, await Account.create(nodes));
  }

  async allSucceed(): Promise<void> {
    await Promise.all(this.nodes.all.map((node) => this.succeeds(node)));
  }

  private async succeeds(node: Node): Promise<void> {
    const { email, password } = this.account;
    const login = await this.ask(node, { path: '/auth/login', body: { email, password } });
    const { access_token: token } = await this.ask(node, refreshOf(login.refresh_token!));
    await this.ask(node, { method: 'GET', path: '/private', token: token! });
    await this.ask(node, { path: '/auth/logout', token: token! });
  }

  private async ask(node: Node, call: Parameters<Account['ask']>[1]): Promise<Record<string, string>> {
    const deadline = performance.now() + 2 * BACK_WITHIN * 1000;
    for (;;) {
      const { status, body } = await this.account.ask(node, call);
      if (status < 300) return body;
      if (status !== 503 || performance.now() > deadline) throw new Error(`${call.path} after the kill: ${status}`);
      await sleep(10);
    }
  }
}

function print(name: string, figures: readonly Figures[], { counts }: Load): void {
  const line = (kind: keyof Figures): string => {
    const all = figures.map((one) => one[kind]).toSorted((one, other) => one - other);
    const shown = [all[0], all[Math.floor(all.length / 2)], all.at(-1)].map((seconds) => seconds!.toFixed(2));
    return `${kind} ${shown.join(' / ')} s`;
  };
  const { answers: total, unavailable, refreshes, ends, checks } = counts;
  console.log(
    `${name}: ${figures.length} kills, minimum / median / maximum: ${line('away')}, ${line('back')}; ` +
      `${total} answers, ${unavailable} of them 503, ${refreshes} refreshes, ${ends} ends, ${checks} checks`,
  );
}
