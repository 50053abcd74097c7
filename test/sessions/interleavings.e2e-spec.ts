import * as fc from 'fast-check';
import { TestApp, claimsOf } from '../support/app';

const GUARDS = ['api', 'admin'] as const;
const GRACE = 30;
const LIFETIME = 3600;
const ACCESS = 600;
const SCOPES = [undefined, [], ['orders.read', 'x.*']] as const;

interface IssuedRefresh {
  secret: string;
  session: ModelSession;
  rotatedAt: number | null;
}

interface ModelSession {
  fid: string;
  guard: string;
  user: string;
  scope: string | undefined;
  pin: true | undefined;
  endsAt: number;
  revoked: boolean;
  refreshTokens: IssuedRefresh[];
  accessTokens: { token: string; expiresAt: number }[];
}

/** The rules of a session, restated as plainly as they can be. */
class Model {
  now = 0;
  readonly sessions: ModelSession[] = [];

  refreshIsGood({ session, rotatedAt }: IssuedRefresh): boolean {
    if (session.revoked || session.endsAt < this.now) return false;
    return rotatedAt === null || rotatedAt + GRACE >= this.now;
  }

  accessIsGood(session: ModelSession, expiresAt: number): boolean {
    return !session.revoked && expiresAt + 5 > this.now;
  }
}

type Step = (t: TestApp, model: Model, issued: Issue) => Promise<void>;
type Issue = (session: ModelSession, accessToken: string, refreshToken: string) => void;

const PATHS = { api: ['/private', '/auth'], admin: ['/staff', '/admin/auth'] } as const;
const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(items.length, 1)];
const allRefresh = (model: Model): IssuedRefresh[] => model.sessions.flatMap(({ refreshTokens }) => refreshTokens);

const login =
  (guard: 'api' | 'admin', user: string, scopeIndex: number): Step =>
  async (t, model, issue) => {
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
      refreshTokens: [],
      accessTokens: [],
    };
    model.sessions.push(session);
    issue(session, accessToken, refreshToken);
  };

/** Presents any token ever handed out, at the right guard or at the wrong one. */
const refresh =
  (n: number, wrongGuard: boolean): Step =>
  async (t, model, issue) => {
    const presented = pick(allRefresh(model), n);
    if (!presented) return;
    const { session } = presented;
    const other = GUARDS.find((guard) => guard !== session.guard)!;
    const { status, body } = await t.refresh(presented.secret, wrongGuard ? other : session.guard);
    const good = !wrongGuard && model.refreshIsGood(presented);
    expect({ status, presented: good }).toEqual({ status: good ? 200 : 401, presented: good });
    if (good) {
      presented.rotatedAt ??= model.now;
      issue(session, body.access_token, body.refresh_token);
    } else if (!wrongGuard && presented.rotatedAt !== null && session.endsAt >= model.now) {
      session.revoked = true;
    }
  };

const end =
  (how: 'logout' | 'all' | 'others', n: number): Step =>
  async (t, model) => {
    const session = pick(model.sessions, n);
    const access = session?.accessTokens.at(-1);
    if (!session || !access) return;
    const [, path] = PATHS[session.guard as 'api'];
    const [method, route] = (
      { logout: ['post', 'logout'], all: ['delete', 'sessions'], others: ['delete', 'sessions/others'] } as const
    )[how];
    const { status } = await t.call(method, `${path}/${route}`, access.token);
    const good = model.accessIsGood(session, access.expiresAt);
    // No list that sessions are pinned to here says svc.sessions.
    const gated = session.pin && how !== 'logout';
    expect(status).toBe(good ? (gated ? 403 : 204) : 401);
    if (!good || gated) return;
    for (const one of model.sessions.filter(({ guard, user }) => guard === session.guard && user === session.user)) {
      if (how === 'all' || (how === 'logout' && one === session) || (how === 'others' && one !== session))
        one.revoked = true;
    }
  };

const wait =
  (seconds: number): Step =>
  async (t, model) => {
    t.clock.advance(seconds);
    model.now += seconds;
  };

const steps: fc.Arbitrary<[string, Step]> = fc.oneof(
  fc
    .tuple(fc.constantFrom(...GUARDS), fc.constantFrom('1', '2'), fc.nat(2))
    .map((a): [string, Step] => [`login ${a}`, login(...a)]),
  {
    arbitrary: fc
      .tuple(
        fc.nat(50),
        fc.boolean().map((b) => b),
      )
      .map(([n, w]): [string, Step] => [`refresh ${n} ${w && n % 4 === 0}`, refresh(n, w && n % 4 === 0)]),
    weight: 4,
  },
  fc
    .tuple(fc.constantFrom('logout', 'all', 'others' as const), fc.nat(20))
    .map((a): [string, Step] => [`end ${a}`, end(...(a as ['all', number]))]),
  // Never on a boundary: time moves on by itself while the requests run.
  fc.constantFrom(3, 12, 25, 45, 400, 1200).map((s): [string, Step] => [`wait ${s}`, wait(s)]),
);

describe('any interleaving of login, refresh, replay, logout, revocation and time', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start({ options: { refreshTtl: LIFETIME, accessTtl: ACCESS, graceSeconds: GRACE } });
    for (const guard of GUARDS) for (const name of ['ada', 'bob']) await t.person(`${name}@example.com`, guard);
  });
  afterAll(() => t.stop());

  /** Everything handed out is as good as the model says: no false kill, no survivor, no mixing of guards. */
  async function audit(model: Model): Promise<void> {
    for (const session of model.sessions) {
      const [own, foreign] = session.guard === 'api' ? ['/private', '/staff'] : ['/staff', '/private'];
      for (const { token, expiresAt } of session.accessTokens) {
        expect((await t.get(own, token)).status).toBe(model.accessIsGood(session, expiresAt) ? 200 : 401);
        await t.get(foreign, token).expect(401);
      }
    }
  }

  it('keeps every promise of a session', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 30 }), async (script) => {
        await t.auth.revokeAll(1);
        const model = new Model();
        const issue: Issue = (session, token, secret) => {
          const { fid, exp, scope, pin } = claimsOf(token);
          expect({ fid, scope, pin }).toEqual({ fid: session.fid, scope: session.scope, pin: session.pin });
          session.accessTokens.push({ token, expiresAt: model.now + ACCESS });
          session.refreshTokens.push({ secret, session, rotatedAt: null });
          expect(Number(exp)).toBeGreaterThan(t.clock.seconds());
        };
        for (const [, step] of script) await step(t, model, issue);
        await audit(model);
        const deadlines: { id: string; lifetime: number }[] = await t.database.query(
          'SELECT id, extract(epoch FROM expires_at - created_at)::int AS lifetime FROM svc_sessions',
        );
        for (const { lifetime } of deadlines) expect(lifetime).toBe(LIFETIME);
      }),
      { numRuns: 60 },
    );
  });
});
