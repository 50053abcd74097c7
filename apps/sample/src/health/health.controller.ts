import { Controller, Get } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { ForceJson, SecurityStore } from '@svc/auth';
import type { DataSource } from 'typeorm';

@Controller('health')
export class HealthController {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly store: SecurityStore,
  ) {}

  /** 200 when both stores answer, 503 when one does not. */
  @Get()
  @ForceJson()
  async check() {
    await Promise.all([this.database.query('SELECT 1'), this.store.getMany(['svc:health'])]);
    return { status: 'ok' };
  }
}
