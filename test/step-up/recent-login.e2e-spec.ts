import { Controller, Get, Post, UseGuards } from '@nestjs/common';
import { AuthConfigError, Authenticated, RecentLoginGuard, RequireConfirmation, RequireRecentLogin } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { forge } from '../support/clients/forge';
import { stepUpForFile } from '../support/flows/step-up';
import { ADA } from '../support/hosts/user-entities';

const HOUR = 3600;

@Controller('recent')
class Recent {
  @Get()
  @RequireRecentLogin(HOUR)
  any() {
    return {};
  }

  @Get('by-guard')
  @UseGuards(RecentLoginGuard(HOUR))
  byGuard() {
    return {};
  }

  @Get('staff')
  @RequireRecentLogin(HOUR)
  @Authenticated('admin')
  staff() {
    return {};
  }

  @Post('confirmed')
  @RequireConfirmation()
  @RequireRecentLogin(HOUR)
  confirmed() {
    return {};
  }

  @Post('confirmed-too')
  @RequireRecentLogin(HOUR)
  @RequireConfirmation()
  confirmedToo() {
    return {};
  }
}

@Controller('strict')
@RequireRecentLogin(2 * HOUR)
class Strict {
  @Get()
  any() {
    return {};
  }

  @Get('more')
  @RequireRecentLogin(HOUR)
  more() {
    return {};
  }
}

describe('a route that requires a recent login', () => {
  const t = stepUpForFile({}, [Recent, Strict]);
  /** Refreshes every 600 seconds. */
  const refreshedFor = async (seconds: number, { access_token: access, refresh_token: refresh }: Session) => {
    let [token, next] = [access, refresh];
    for (let left = seconds; left > 0; left -= 600) {
      t.clock.advance(Math.min(left, 600));
      const { body } = await t.refresh(next).expect(200);
      [token, next] = [body.access_token, body.refresh_token];
    }
    return token;
  };
  type Session = Awaited<ReturnType<TestApp['session']>>;
  const now = (): number => Math.floor(t.clock.now() / 1000);

  it.each(['/recent', '/recent/by-guard'])(
    '%s refuses a session after that time, however often it is refreshed',
    async (path) => {
      const session = await t.session(ADA);
      await t.get(path, session.access_token).expect(200);
      const late = await refreshedFor(HOUR - 60, session);
      await t.get(path, late).expect(200);
      t.clock.advance(70);
      const { body, headers } = await t.get(path, late).expect(401);
      expect(headers['www-authenticate']).toBe('Bearer error="insufficient_user_authentication", max_age=3600');
      expect(body).toEqual({ message: 'Please sign in again to continue.', reason: 'recent_login_required' });
      await t.get('/private', late).expect(200);
      await t.get(path, (await t.session(ADA)).access_token).expect(200);
    },
  );

  it('first requires a token', async () => {
    const { headers } = await t.get('/recent').expect(401);
    expect(headers['www-authenticate']).toBe('Bearer');
  });

  it('applies the requirements of a controller and of its handler', async () => {
    const session = await t.session(ADA);
    const later = await refreshedFor(HOUR + 60, session);
    await t.get('/strict', later).expect(200);
    const { headers } = await t.get('/strict/more', later).expect(401);
    expect(headers['www-authenticate']).toContain('max_age=3600');
  });

  it('refuses sessions to which no user has signed in', async () => {
    const access = async (options: object, abilities?: string[]): Promise<string> =>
      (await t.auth.startSession(1, options, abilities)).accessToken;
    await t.get('/recent', await access({ amr: ['sms'] })).expect(200);
    await t.get('/recent', await access({ amr: ['sms'], authTime: now() - HOUR - 60 })).expect(401);
    await t.get('/recent', await access({})).expect(401);
    await t.get('/recent', await access({ amr: ['pwd'] }, ['*'])).expect(401);
    await t.get('/recent', await access({ amr: ['pwd'], claims: { act: { sub: 'support' } } })).expect(401);
  });

  it.each<[string, number, Record<string, unknown>]>([
    ['a recent time', 200, { auth_time: 0, amr: ['pwd'] }],
    ['no time', 401, { amr: ['pwd'] }],
    ['a text as its time', 401, { auth_time: 'now', amr: ['pwd'] }],
    ['a time in the future', 401, { auth_time: 600, amr: ['pwd'] }],
    ['a time that is ahead by less than the leeway', 200, { auth_time: 3, amr: ['pwd'] }],
    ['no methods', 401, { auth_time: 0 }],
    ['a pinned list of abilities', 401, { auth_time: 0, amr: ['pwd'], pin: true }],
    ['another party that acts', 401, { auth_time: 0, amr: ['pwd'], act: { sub: 'x' } }],
  ])('answers the token of another issuer with %s with %d', async (_, status, claims) => {
    const time = claims.auth_time;
    const given = typeof time === 'number' ? { ...claims, auth_time: now() + time } : claims;
    await t.get('/recent', forge({ claims: { ...given, fid: undefined } })).expect(status);
  });

  it('is checked by the guard of the route', async () => {
    const staff = await t.session('root@example.com', 'admin');
    await t.get('/recent/staff', staff.access_token).expect(200);
    await t.get('/recent/staff', (await t.session(ADA)).access_token).expect(401);
  });

  it.each(['/recent/confirmed', '/recent/confirmed-too'])(
    '%s asks for a new sign-in before it asks for a confirmation, in any order of the decorators',
    async (path) => {
      const session = await t.session(ADA);
      await t.call('post', path, session.access_token).expect(423);
      await t.call('post', path, await refreshedFor(HOUR + 10, session)).expect(401);
    },
  );
});

it.each([[0], [-1], [1.5], [NaN], ['3600'], [undefined]])(
  'a requirement of %j seconds is refused at once',
  (seconds) => {
    for (const make of [RequireRecentLogin, RecentLoginGuard])
      expect(() => make(seconds as number)).toThrow(AuthConfigError);
  },
);
