import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService } from '@nestjs/terminus';
import { AuthHealth } from '@svc/auth';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly auth: AuthHealth,
  ) {}

  /**
   * For liveness: answers 200 while the process answers requests. It checks no dependency, because a restart of the
   * process repairs none.
   */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** For readiness: answers 200 when every dependency works, 503 when one fails. */
  @Get()
  @HealthCheck()
  check() {
    return this.health.check(this.auth.indicators());
  }
}
