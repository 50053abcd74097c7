import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { AuthHealth } from '@svc/auth';
import type { TestApp } from '../hosts/app';

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly auth: AuthHealth,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check(this.auth.indicators());
  }

  @Get('mine')
  @HealthCheck()
  mine() {
    return this.health.check([() => this.auth.postgres('db'), () => this.auth.keys('signing')]);
  }
}

@Module({ imports: [TerminusModule.forRoot({ logger: false })], controllers: [HealthController] })
export class HealthModule {}

const NAMES = ['auth_keys', 'auth_migrations', 'auth_postgres', 'auth_store'];
export const UP = Object.fromEntries(NAMES.map((name) => [name, { status: 'up' }]));
export const down = (reason: string, step?: string, code?: string) => ({
  status: 'down',
  reason,
  ...(step && { step }),
  ...(code && { code }),
});

/** The status and the details of the response. The response must contain nothing else. */
export async function healthOf(t: TestApp): Promise<{ status: number; details: Record<string, unknown> }> {
  const { status, body, text } = await t.get('/health');
  expect(text.replace(/"code":"[A-Z\d]+"/g, '')).not.toMatch(/127\.0\.0\.1|localhost|secret|ECONN|Error|svc_|[A-Z]{2}/);
  return { status, details: body.details };
}

/** As {@link healthOf}, by new checks: the result of a check that was up is used for a second. */
export const newHealthOf = (t: TestApp): ReturnType<typeof healthOf> => {
  t.clock.advance(1);
  return healthOf(t);
};

export const isUp = async (t: TestApp): Promise<boolean> => (await newHealthOf(t)).status === 200;
