import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService } from '@nestjs/terminus';
import { AuthHealth } from '@svc/auth';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly auth: AuthHealth,
  ) {}

  /** 200 when everything the service stands on works, 503 when something does not. */
  @Get()
  @HealthCheck()
  check() {
    return this.health.check(this.auth.indicators());
  }
}
