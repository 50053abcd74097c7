import { RefreshFamilyForked, RefreshTokenReused, SessionEnded, SessionRecovered, SessionStarted } from '@svc/auth';
import * as fc from 'fast-check';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ENCRYPTION_KEY } from '../support/hosts/host.module';
import { RACES_MS, rounds } from '../support/runtime/rounds';

const GUARDS = ['api', 'admin'] as const;
type Guard = (typeof GUARDS)[number];

/** Times in seconds. The clock moves by multiples of ten, so that no step comes near these boundaries. */
const GRACE = 35;
const LIFETIME = 3605;
/** Expires five seconds later with the leeway. */
const ACCESS = 600;
const FORKS = 3;
const SCOPES = [undefined, [], ['orders.read', 'x.*']] as const;

/** Encryption keys. Each configuration keeps the previous keys, except the last one. */
const KEYS = [ENCRYPTION_KEY, 'the-second-key-of-encryption-0123456789', 'the-third-key-of-encryption-0123456789'];
const LONE_KEY = 'a-key-of-encryption-without-former-ones-0123456789';
const ROOTS = [...KEYS.map((key, i) => ({ key, previousKeys: KEYS.slice(0, i) })), { key: LONE_KEY }];
const LONE = KEYS.length;

interface IssuedRefresh {
  secret: string;
  session: ModelSession;
  generation: number;
  root: number;
}

/** The rotation state in the database. */
interface Stored {
  generation: number;
  /** The time at which the token of each generation was replaced, if recorded. */
  replacedAt: number[];
  holders: number;
}

interface ModelSession extends Stored {
  fid: string;
  guard: Guard;
  user: string;
  scope: string | undefined;
  pin: true | undefined;
  endsAt: number;
  revoked: boolean;
  /** The state and the row after each commit. */
  commits: { stored: Stored; row: Record<'generation' | 'recent' | 'holders', unknown> }[];
  accessTokens: { token: string; expiresAt: number }[];
}

type Verdict = 'current' | 'replay' | 'ahead' | 'refused' | 'expired' | 'reuse';

/** What occurred: verdicts, and a replay that exceeds the threshold further. */
const occurred = new Set<Verdict | 'further replay'>();

/** A reference model of the rules of a session. */
class Model {
  now = 0;
  root = 0;
  readonly sessions: ModelSession[] = [];
  readonly refreshTokens: IssuedRefresh[] = [];
  readonly events: string[] = [];

  verdictOn({ session, generation, root }: IssuedRefresh): Verdict {
    const isKnown = root === LONE ? this.root === LONE : root <= this.root && this.root !== LONE;
    if (!isKnown || session.revoked) return 'refused';
    if (session.endsAt < this.now) return 'expired';
    if (generation === session.generation) return 'current';
    if (generation > session.generation) return 'ahead';
    return session.replacedAt[generation]! + GRACE >= this.now ? 'replay' : 'reuse';
  }

  /** @returns the generation of the token in the answer, or null for a refusal */
  refresh(presented: IssuedRefresh): number | null {
    const { session, generation } = presented;
    const verdict = this.verdictOn(presented);
    if (verdict === 'expired') this.end(session, 'expired');
    if (verdict === 'reuse') {
      this.end(session, 'reuse');
      this.events.push(`reused ${session.fid}`);
    }
    if (verdict === 'replay') {
      session.holders++;
      if (session.holders > FORKS + 1) occurred.add('further replay');
      if (session.holders === FORKS + 1) this.events.push(`forked ${session.fid} ${session.holders}`);
      return session.generation;
    }
    if (verdict !== 'current' && verdict !== 'ahead') return null;
    if (verdict === 'ahead') this.events.push(`recovered ${session.fid} ${generation - session.generation}`);
    while (session.replacedAt.length <= generation) session.replacedAt.push(this.now);
    session.generation = generation + 1;
    session.holders = 1;
    return session.generation;
  }

  end(session: ModelSession, reason: string): void {
    if (session.revoked) return;
    session.revoked = true;
    this.events.push(`ended ${session.fid} ${reason}`);
  }

  accessIsGood(session: ModelSession, expiresAt: number): boolean {
    return !session.revoked && expiresAt + 5 > this.now;
  }
}

/** One application for each encryption configuration. All share their stores. */
class World {
  readonly model = new Model();

  constructor(readonly nodes: readonly TestApp[]) {}

  get t(): TestApp {
    return this.nodes[this.model.root]!;
  }

  issue(session: ModelSession, accessToken: string, secret: string): void {
    const { fid, scope, pin } = claimsOf(accessToken);
    expect({ fid, scope, pin }).toEqual({ fid: session.fid, scope: session.scope, pin: session.pin });
    const { root, now, refreshTokens } = this.model;
    const { generation } = session;
    // One generation and one root always produce the same text.
    const known = refreshTokens.find(
      (issued) => issued.session === session && issued.generation === generation && issued.root === root,
    );
    expect(secret).toBe(known?.secret ?? secret);
    const bytes = Buffer.from(secret, 'base64url');
    expect([bytes.toString('hex', 1, 17), bytes.readUInt32BE(17)]).toEqual([
      session.fid.replaceAll('-', ''),
      generation,
    ]);
    session.accessTokens.push({ token: accessToken, expiresAt: now + ACCESS });
    if (!known) refreshTokens.push({ secret, session, generation, root });
  }

  /** Records the stored state of a session, so that later commits can be lost. */
  async committed(session: ModelSession): Promise<void> {
    const { generation, replacedAt, holders } = session;
    const [row] = await this.t.database.query('SELECT generation, recent, holders FROM svc_sessions WHERE id = $1', [
      session.fid,
    ]);
    expect(row).toMatchObject({ generation, holders });
    session.commits.push({ stored: { generation, replacedAt: [...replacedAt], holders }, row });
  }
}

type Step = (world: World) => Promise<void>;

const PATHS = { api: ['/private', '/auth'], admin: ['/staff', '/admin/auth'] } as const;
const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(items.length, 1)];
/** Picks an item, most often one of the newest. */
const pickLate = <T>(items: readonly T[], n: number): T | undefined =>
  pick(items.toReversed(), Math.floor(n ** 2 / 50));

const login =
  (guard: Guard, user: string, scopeIndex: number): Step =>
  async (world) => {
    const { t, model } = world;
    const abilities = SCOPES[scopeIndex];
    const { accessToken, refreshToken } = await t.auth.guard(guard).startSession(user, {}, abilities);
    const session: ModelSession = {
      fid: String(claimsOf(accessToken).fid),
      guard,
      user,
      scope: abilities?.length ? abilities.join(' ') : undefined,
      pin: abilities ? true : undefined,
      endsAt: model.now + LIFETIME,
      revoked: false,
      generation: 0,
      replacedAt: [],
      holders: 1,
      commits: [],
      accessTokens: [],
    };
    model.sessions.push(session);
    model.events.push(`started ${session.fid}`);
    world.issue(session, accessToken, refreshToken);
    await world.committed(session);
  };

/** Presents a token at its own guard. */
async function present(world: World, presented: IssuedRefresh): Promise<void> {
  const { t, model } = world;
  const { session } = presented;
  const verdict = model.verdictOn(presented);
  occurred.add(verdict);
  const answered = model.refresh(presented);
  const { status, body } = await t.refresh(presented.secret, session.guard);
  expect({ verdict, status }).toEqual({ verdict, status: answered === null ? 401 : 200 });
  if (answered === null) return;
  world.issue(session, body.access_token, body.refresh_token);
  await world.committed(session);
}

/** Presents any issued token. */
const refresh =
  (n: number): Step =>
  async (world) => {
    const presented = pickLate(world.model.refreshTokens, n);
    if (presented) await present(world, presented);
  };

/** Presents one token several times, like a client that repeats a request in a loop. */
const repeat =
  (n: number, times: number): Step =>
  async (world) => {
    const presented = pickLate(world.model.refreshTokens, n);
    if (presented) for (let i = 0; i < times; i++) await present(world, presented);
  };

/** Presents a token at the other guard, or a forged token. Neither ends a session. */
const forge =
  (n: number, how: 'guard' | 'generation' | 'mac'): Step =>
  async ({ t, model }) => {
    const presented = pick(model.refreshTokens, n);
    if (!presented) return;
    const { guard } = presented.session;
    const bytes = Buffer.from(presented.secret, 'base64url');
    if (how === 'generation') bytes.writeUInt32BE(presented.generation + 1 + (n % 3), 17);
    if (how === 'mac') bytes[21 + (n % 32)]! ^= 1 << (n % 8);
    const at = how === 'guard' ? GUARDS.find((name) => name !== guard)! : guard;
    await t.refresh(bytes.toString('base64url'), at).expect(401);
  };

const end =
  (how: 'logout' | 'all' | 'others', n: number): Step =>
  async ({ t, model }) => {
    const session = pick(model.sessions, n);
    const access = session?.accessTokens.at(-1);
    if (!session || !access) return;
    const [, path] = PATHS[session.guard];
    const [method, route, reason] = (
      {
        logout: ['post', 'logout', 'logout'],
        all: ['delete', 'sessions', 'revoked'],
        others: ['delete', 'sessions/others', 'others'],
      } as const
    )[how];
    const { status } = await t.call(method, `${path}/${route}`, access.token);
    const good = model.accessIsGood(session, access.expiresAt);
    // No list in SCOPES contains svc.sessions.
    const gated = session.pin && how !== 'logout';
    expect(status).toBe(good ? (gated ? 403 : 204) : 401);
    if (!good || gated) return;
    for (const candidate of model.sessions.filter(
      ({ guard, user }) => guard === session.guard && user === session.user,
    )) {
      if (how === 'all' || (how === 'logout' && candidate === session) || (how === 'others' && candidate !== session))
        model.end(candidate, reason);
    }
  };

/** Simulates a failover in which PostgreSQL loses the last rotations of a session, but not its end. */
const loseRotations =
  (n: number, count: number): Step =>
  async ({ t, model }) => {
    const session = pickLate(model.sessions, n);
    if (!session) return;
    const { commits, fid } = session;
    commits.length = Math.max(1, commits.length - count);
    const { stored, row } = commits.at(-1)!;
    Object.assign(session, { ...stored, replacedAt: [...stored.replacedAt] });
    await t.database.query('UPDATE svc_sessions SET generation = $2, recent = $3, holders = $4 WHERE id = $1', [
      fid,
      row.generation,
      row.recent,
      row.holders,
    ]);
  };

/** Simulates that PostgreSQL loses the end of a session. The session stays ended because the denylist has it. */
const loseEnd =
  (n: number): Step =>
  async (world) => {
    const { t, model } = world;
    const session = pick(
      model.sessions.filter(({ revoked }) => revoked),
      n,
    );
    if (!session) return;
    await t.database.query('UPDATE svc_sessions SET revoked_at = NULL WHERE id = $1', [session.fid]);
    session.revoked = false;
    const own = model.refreshTokens.filter((issued) => issued.session === session);
    const acceptable = own.find((issued) => ['current', 'replay', 'ahead'].includes(model.verdictOn(issued)));
    session.revoked = true;
    const [path] = PATHS[session.guard];
    for (const { token } of session.accessTokens) await t.get(path, token).expect(401);
    if (acceptable) await t.refresh(acceptable.secret, session.guard).expect(401);
    // The first denied token of the session writes the end again. Without such a token, the row is restored as ended.
    if (acceptable || session.accessTokens.some(({ expiresAt }) => expiresAt + 5 > model.now))
      model.events.push(`ended ${session.fid} revoked`);
    else await t.database.query('UPDATE svc_sessions SET revoked_at = now() WHERE id = $1', [session.fid]);
  };

const wait =
  (seconds: number): Step =>
  async ({ nodes, model }) => {
    for (const { clock } of nodes) clock.advance(seconds);
    model.now += seconds;
  };

/** Switches to the application with another encryption configuration. */
const replaceRoot =
  (root: number): Step =>
  async ({ model }) => {
    model.root = root;
  };

/** A step with a name for the report of a failed property. */
class Named {
  constructor(
    readonly name: string,
    readonly step: Step,
  ) {}

  [fc.toStringMethod](): string {
    return this.name;
  }
}

const steps: fc.Arbitrary<Named> = fc.oneof(
  {
    arbitrary: fc
      .tuple(fc.constantFrom(...GUARDS), fc.constantFrom('1', '2'), fc.nat(2))
      .map((a) => new Named(`login ${a}`, login(...a))),
    weight: 3,
  },
  { arbitrary: fc.nat(50).map((n) => new Named(`refresh ${n}`, refresh(n))), weight: 11 },
  {
    arbitrary: fc
      .tuple(fc.nat(50), fc.integer({ min: 4, max: 2 * FORKS }))
      .map((a) => new Named(`repeat ${a}`, repeat(...a))),
    weight: 1,
  },
  {
    arbitrary: fc
      .tuple(fc.nat(50), fc.constantFrom('guard', 'generation', 'mac'))
      .map((a) => new Named(`forge ${a}`, forge(...(a as Parameters<typeof forge>)))),
    weight: 1,
  },
  {
    arbitrary: fc
      .tuple(fc.constantFrom('logout', 'all', 'others'), fc.nat(20))
      .map((a) => new Named(`end ${a}`, end(...(a as Parameters<typeof end>)))),
    weight: 1,
  },
  {
    arbitrary: fc
      .tuple(fc.nat(50), fc.integer({ min: 1, max: 6 }))
      .map((a) => new Named(`lose rotations ${a}`, loseRotations(...a))),
    weight: 2,
  },
  { arbitrary: fc.nat(20).map((n) => new Named(`lose end ${n}`, loseEnd(n))), weight: 1 },
  {
    arbitrary: fc.constantFrom(0, 1, 1, 2, 2, LONE).map((n) => new Named(`root ${n}`, replaceRoot(n))),
    weight: 2,
  },
  {
    arbitrary: fc.constantFrom(10, 20, 20, 40, 400, 1200, 3610).map((s) => new Named(`wait ${s}`, wait(s))),
    weight: 3,
  },
);

/** The arguments of `refresh`: 0 is the newest token, 8 the one before. */
const SCRIPT = [
  refresh(0),
  repeat(8, FORKS + 2),
  loseRotations(0, FORKS + 3),
  refresh(0),
  wait(GRACE + 5),
  refresh(8),
  refresh(0),
  login('api', '2', 0),
  wait(LIFETIME + 5),
  refresh(0),
];

describe('any interleaving of logins, refreshes, replays, ends, losses, new roots and time', () => {
  let nodes: TestApp[];
  const seen: string[] = [];

  beforeAll(async () => {
    const options = {
      refreshTtl: LIFETIME,
      accessTtl: ACCESS,
      graceSeconds: GRACE,
      sessions: { maxPerUser: 0 },
      // A long time-out, so that no request times out on a slow machine.
      storeTimeoutMs: 20_000,
    };
    const first = await TestApp.start({ options: { ...options, encryption: ROOTS[0] } });
    const { databaseUrl } = first;
    nodes = [first];
    for (const encryption of ROOTS.slice(1))
      nodes.push(await TestApp.start({ databaseUrl, options: { ...options, encryption } }));
    for (const guard of GUARDS) for (const name of ['ada', 'bob']) await first.person(`${name}@example.com`, guard);
    for (const t of nodes) {
      t.clock.stop();
      t.on(SessionStarted, ({ familyId }) => seen.push(`started ${familyId}`));
      t.on(SessionEnded, ({ familyId, reason }) => seen.push(`ended ${familyId} ${reason}`));
      t.on(SessionRecovered, ({ familyId, lost }) => seen.push(`recovered ${familyId} ${lost}`));
      t.on(RefreshTokenReused, ({ familyId }) => seen.push(`reused ${familyId}`));
      t.on(RefreshFamilyForked, ({ familyId, holders }) => seen.push(`forked ${familyId} ${holders}`));
    }
  });
  afterAll(async () => {
    for (const t of nodes.toReversed()) await t.stop();
  });

  /** Compares every issued token, every row and every event with the model. */
  async function compareWithModel({ t, model }: World): Promise<void> {
    for (const session of model.sessions) {
      const [own, foreign] = session.guard === 'api' ? ['/private', '/staff'] : ['/staff', '/private'];
      for (const { token, expiresAt } of session.accessTokens) {
        expect((await t.get(own, token)).status).toBe(model.accessIsGood(session, expiresAt) ? 200 : 401);
        await t.get(foreign, token).expect(401);
      }
    }
    const rows: object[] = await t.database.query(
      `SELECT id AS fid, generation, holders, revoked_at IS NOT NULL AS revoked,
              extract(epoch FROM expires_at - created_at)::int AS lifetime
         FROM svc_sessions ORDER BY id`,
    );
    const expected = model.sessions.map(({ fid, generation, holders, revoked }) => ({
      fid,
      generation,
      holders,
      revoked,
      lifetime: LIFETIME,
    }));
    expect(rows).toEqual(expected.toSorted((a, b) => (a.fid < b.fid ? -1 : 1)));
    expect(seen.toSorted()).toEqual(model.events.toSorted());
  }

  async function liveAsTheModel(script: readonly Step[]): Promise<void> {
    await nodes[0]!.database.query('DELETE FROM svc_sessions');
    seen.length = 0;
    const world = new World(nodes);
    for (const guard of GUARDS) await login(guard, '1', 0)(world);
    for (const step of script) await step(world);
    await compareWithModel(world);
  }

  // Random scripts may not reach every verdict, so this one does.
  it('gives the results of the reference model in a script that has every verdict', async () => {
    occurred.clear();
    await liveAsTheModel(SCRIPT);
    expect([...occurred].toSorted()).toEqual([
      'ahead',
      'current',
      'expired',
      'further replay',
      'refused',
      'replay',
      'reuse',
    ]);
  });

  it(
    'gives the results of the reference model in any script',
    async () => {
      const scripts = fc.array(steps, { minLength: 20, maxLength: 60, size: 'max' });
      const property = fc.asyncProperty(scripts, (script) => liveAsTheModel(script.map(({ step }) => step)));
      await fc.assert(property, { numRuns: rounds(8) });
    },
    RACES_MS,
  );
});
