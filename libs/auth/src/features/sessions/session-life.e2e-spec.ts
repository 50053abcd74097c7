import * as fc from 'fast-check';
import { Pruning } from '../../tools/retention/pruning';
import { AuthConfigError, StoreUnavailable } from '../../foundation/platform/errors';
import { Realm, Realms } from '../../foundation/realm/realm';
import { Denylist } from '../../identity/denylist/denylist';
import { DenylistMonitor } from '../../identity/denylist/denylist-monitor';
import { UnfinishedEnds } from '../../identity/denylist/ended-sessions';
import { RefreshRotation } from './refresh-rotation';
import { SessionList } from './session-list';
import { Sessions } from './sessions';
import { SignIn } from './sign-in';
import { InvalidRefreshToken } from './sessions.errors';
import { SessionEnded } from './sessions.events';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { TestApp, claimsOf } from '../../../../../test/support/hosts/app';
import { RACES_MS, rounds } from '../../../../../test/support/runtime/rounds';

/**
 * Times in seconds. The clock moves by multiples of 100, so that no step comes near these boundaries, although real time passes,
 * too.
 */
const TTL = 6050;
const TTL_WITHOUT_REMEMBER = 3050;
const OWN_TTLS = [undefined, 2050];
const IDLE_TIMEOUTS = [0, 1250, 650];
const OWN_IDLE_TIMEOUTS = [undefined, 450, 950];
const GRACE = 350;
const ACCESS = 300;
/** Less than the distance of the boundaries from the times of the steps. */
const MARGIN = 45;
const MAX_PER_USER = 3;

const t = TestApp.forFile({
  // Its denials expire by the clock of the test.
  redisUrl: '',
  options: {
    refreshTtl: TTL,
    accessTtl: ACCESS,
    graceSeconds: GRACE,
    sessions: { maxPerUser: MAX_PER_USER, ttlWithoutRemember: TTL_WITHOUT_REMEMBER },
  },
});

interface ModelSession {
  readonly id: string;
  readonly deadline: number;
  readonly idleTimeout: number;
  readonly remembered: boolean;
  /** The refresh token of each generation. */
  readonly tokens: string[];
  /** When the token of each generation was replaced. */
  readonly replacedAt: number[];
  usedAt: number;
  /** Orders uses at the same time. */
  use: number;
  hasEnded: boolean;
  /** Denied by a request whose commit failed, and whose process was killed then. */
  isDenied: boolean;
}

/** A reference model of the life of sessions. */
class Model {
  now = 0;
  idleTimeout = 0;
  uses = 0;
  readonly sessions: ModelSession[] = [];
  readonly ended: string[] = [];

  end({ deadline, usedAt, idleTimeout }: ModelSession): { at: number; reason: string } {
    const idleAt = usedAt + Math.min(idleTimeout, this.idleTimeout || Infinity);
    return idleAt < deadline ? { at: idleAt, reason: 'idle' } : { at: deadline, reason: 'expired' };
  }

  live(): ModelSession[] {
    return this.sessions.filter((session) => !session.hasEnded && this.end(session).at >= this.now);
  }

  close(session: ModelSession, reason: string): void {
    session.hasEnded = true;
    this.ended.push(`${session.id} ${reason}`);
  }

  /** Finishes the ends that were denied and not committed. */
  finish(): void {
    for (const session of this.sessions) if (session.isDenied && !session.hasEnded) this.close(session, 'revoked');
  }

  use(session: ModelSession): void {
    session.usedAt = this.now;
    session.use = ++this.uses;
  }
}

/** The results of steps that occurred. */
const occurred = new Set<string>();

class World {
  readonly model = new Model();
  private readonly start = t.clock.now() / 1000;
  private readonly scope = t.app.get(Realms).get('api');
  private readonly realm = this.scope.get(Realm);
  private readonly options = this.realm.options;

  advance(seconds: number): void {
    t.clock.advance(seconds);
    this.model.now += seconds;
  }

  /** Sets the option, as a restart with another configuration does. */
  limitIdleTime(idleTimeout: number): void {
    this.model.idleTimeout = idleTimeout;
    Object.assign(this.realm, { options: { ...this.options, sessions: { ...this.options.sessions, idleTimeout } } });
  }

  async login(remember: boolean | undefined, ttl: number | undefined, idleTimeout: number | undefined): Promise<void> {
    const { model } = this;
    const start = this.scope.get(SignIn).startForHost({ userId: '1', remember, ttl, idleTimeout });
    if (idleTimeout !== undefined && model.idleTimeout && idleTimeout > model.idleTimeout) {
      occurred.add('refused life');
      return expect(start).rejects.toBeInstanceOf(AuthConfigError);
    }
    const { accessToken, refreshToken, refreshExpiresIn, remembered } = (await start)!;
    const surplus = model
      .live()
      .toSorted((a, b) => a.use - b.use)
      .slice(0, -(MAX_PER_USER - 1));
    for (const session of surplus) model.close(session, 'cap');
    if (surplus.length) occurred.add('cap');
    const life = Math.min(ttl ?? TTL, remember === false ? TTL_WITHOUT_REMEMBER : TTL);
    const session: ModelSession = {
      id: String(claimsOf(accessToken).fid),
      deadline: model.now + life,
      idleTimeout: idleTimeout ?? Infinity,
      remembered: remember !== false,
      tokens: [refreshToken],
      replacedAt: [],
      usedAt: model.now,
      use: ++model.uses,
      hasEnded: false,
      isDenied: false,
    };
    model.sessions.push(session);
    expect({ remembered, refreshExpiresIn }).toEqual({
      remembered: session.remembered,
      refreshExpiresIn: model.end(session).at - model.now,
    });
  }

  /** Presents one of the latest tokens of a session. */
  async refresh(n: number, age: number): Promise<void> {
    const { model } = this;
    const session = model.sessions.at(-1 - (n % Math.max(1, model.sessions.length)));
    if (!session) return;
    const { tokens, replacedAt } = session;
    const current = tokens.length - 1;
    const generation = Math.max(0, current - age);
    const end = model.end(session);
    const isReplay = generation < current && replacedAt[generation]! + GRACE >= model.now;
    const refreshing = this.scope.get(RefreshRotation).rotate(tokens[generation]!, {});
    const refusal = session.hasEnded
      ? 'ended'
      : end.at < model.now
        ? end.reason
        : generation < current && !isReplay
          ? 'reuse'
          : session.isDenied
            ? 'denied'
            : null;
    occurred.add(refusal ?? (isReplay ? 'replay' : 'current'));
    if (refusal !== null) {
      await expect(refreshing).rejects.toBeInstanceOf(InvalidRefreshToken);
      if (refusal === 'denied') model.finish();
      else if (!session.hasEnded) model.close(session, refusal);
      return;
    }
    const { refreshToken, refreshExpiresIn, remembered } = await refreshing;
    model.use(session);
    if (isReplay) expect(refreshToken).toBe(tokens[current]);
    else [replacedAt[generation], tokens[generation + 1]] = [model.now, refreshToken];
    expect(remembered).toBe(session.remembered);
    expect(Math.abs(refreshExpiresIn - (model.end(session).at - model.now))).toBeLessThan(MARGIN);
  }

  /**
   * Ends a session with a commit that fails after the denial.
   *
   * @param isKilled whether the process is killed then; otherwise it finishes the end
   */
  async failEnd(n: number, isKilled: boolean): Promise<void> {
    const { model } = this;
    const session = model.live().at(-1 - (n % Math.max(1, model.live().length)));
    if (!session) return;
    const denylist = this.scope.get(Denylist);
    const deny = denylist.deny.bind(denylist);
    const failed = jest.spyOn(denylist, 'deny').mockImplementationOnce(async (ids) => {
      await deny(ids);
      throw new StoreUnavailable('PostgreSQL');
    });
    const killed = jest.spyOn(this.scope.get(UnfinishedEnds), 'finishDenied');
    if (isKilled) killed.mockResolvedValueOnce();
    await expect(this.scope.get(Sessions).end(session.id, 'logout')).rejects.toBeInstanceOf(StoreUnavailable);
    if (isKilled) {
      session.isDenied = true;
      occurred.add('killed after a denial');
    } else {
      const row = 'SELECT 1 FROM svc_sessions WHERE id = $1 AND revoked_at IS NOT NULL';
      await eventually(async () => (await t.database.query(row, [session.id])).length === 1);
      model.close(session, 'revoked');
      occurred.add('finished');
    }
    failed.mockRestore();
    killed.mockRestore();
  }

  /** The list of sessions is that of the model, with the end of each. */
  async compare(): Promise<void> {
    const { model } = this;
    const listed = await this.scope.get(SessionList).list('1', null);
    const ends = new Map(listed.map(({ id, expires_at: end }) => [id, Date.parse(end) / 1000 - this.start]));
    expect([...ends.keys()].toSorted()).toEqual(
      model
        .live()
        .map(({ id }) => id)
        .toSorted(),
    );
    for (const session of model.live())
      expect(Math.abs(ends.get(session.id)! - model.end(session).at)).toBeLessThan(MARGIN);
  }

  close(): void {
    Object.assign(this.realm, { options: this.options });
  }
}

/** A step with a name for the report of a failed property. */
class Named {
  constructor(
    readonly name: string,
    readonly step: (world: World) => Promise<void> | void,
  ) {}

  [fc.toStringMethod](): string {
    return this.name;
  }
}

type Asked = Parameters<World['login']>;

const loginStep = (...asked: Asked) => new Named(`login ${asked}`, (world) => world.login(...asked));
const refreshStep = (n: number, age: number) => new Named(`refresh ${n} ${age}`, (world) => world.refresh(n, age));
const advanceStep = (seconds: number) => new Named(`advance ${seconds}`, (world) => world.advance(seconds));
const failStep = (n: number, isKilled: boolean) =>
  new Named(`failed end ${n} ${isKilled}`, (world) => world.failEnd(n, isKilled));
const limitStep = (seconds: number) => new Named(`idleTimeout ${seconds}`, (world) => world.limitIdleTime(seconds));

/** Reaches every result alone, because random sequences may not. */
const EXAMPLE = [
  loginStep(undefined, undefined, undefined),
  refreshStep(0, 0),
  refreshStep(0, 1),
  advanceStep(400),
  refreshStep(0, 1),
  refreshStep(0, 0),
  loginStep(undefined, 2050, undefined),
  ...[1000, 1000, 100].map(advanceStep),
  refreshStep(0, 0),
  limitStep(650),
  loginStep(undefined, undefined, 950),
  limitStep(0),
  loginStep(undefined, undefined, 450),
  advanceStep(600),
  refreshStep(0, 0),
  ...[true, undefined, false].map((remember) => loginStep(remember, undefined, undefined)),
  failStep(0, false),
  failStep(0, true),
  advanceStep(100),
  refreshStep(1, 0),
  ...[true, false, true, false].map((remember) => loginStep(remember, undefined, undefined)),
];

const login = fc
  .tuple(fc.constantFrom(undefined, true, false), fc.constantFrom(...OWN_TTLS), fc.constantFrom(...OWN_IDLE_TIMEOUTS))
  .map((asked) => loginStep(...asked));
const refresh = fc.tuple(fc.nat(3), fc.constantFrom(0, 0, 0, 1, 2)).map((which) => refreshStep(...which));
const advance = fc.constantFrom(100, 300, 400, 600, 1000).map(advanceStep);
const fail = fc.tuple(fc.nat(3), fc.boolean()).map((which) => failStep(...which));
const limit = fc.constantFrom(...IDLE_TIMEOUTS).map(limitStep);

const steps = fc.oneof(
  { arbitrary: login, weight: 3 },
  { arbitrary: refresh, weight: 8 },
  { arbitrary: advance, weight: 6 },
  { arbitrary: limit, weight: 1 },
  { arbitrary: fail, weight: 1 },
);

/** Gives the results of the model, after each step, and after the sessions are removed. */
async function liveAsTheModel(sequence: readonly Named[]): Promise<void> {
  await t.database.query('DELETE FROM svc_sessions');
  const events: string[] = [];
  t.on(SessionEnded, ({ familyId, reason }) => events.push(`${familyId} ${reason}`));
  const world = new World();
  const { model } = world;
  try {
    for (const { step } of sequence) {
      await step(world);
      await world.compare();
    }
    expect(events.toSorted()).toEqual(model.ended.toSorted());
    // Those that no request has found are found when they are removed.
    world.close();
    model.idleTimeout = 0;
    world.advance(TTL + 10_000);
    expect(await t.app.get(Pruning).run()).toMatchObject({ sessions: model.sessions.length });
    for (const session of model.sessions.filter(({ hasEnded }) => !hasEnded))
      model.close(session, model.end(session).reason);
    expect(events.toSorted()).toEqual(model.ended.toSorted());
  } finally {
    world.close();
  }
}

describe('a session lives exactly as long as the model says', () => {
  beforeEach(async () => {
    await t.person('ada@example.com');
    // It finishes ends, too, at times that the model does not know.
    jest.spyOn(DenylistMonitor.prototype, 'look').mockResolvedValue();
  });

  it('in an order that has every result', async () => {
    occurred.clear();
    await liveAsTheModel(EXAMPLE);
    expect([...occurred].toSorted()).toEqual([
      'cap',
      'current',
      'denied',
      'ended',
      'expired',
      'finished',
      'idle',
      'killed after a denial',
      'refused life',
      'replay',
      'reuse',
    ]);
  });

  it(
    'in every order of sign-ins, refreshes and times',
    async () => {
      const sequences = fc.array(steps, { minLength: 15, maxLength: 40 });
      await fc.assert(fc.asyncProperty(sequences, liveAsTheModel), { numRuns: rounds(15) });
    },
    RACES_MS,
  );
});
