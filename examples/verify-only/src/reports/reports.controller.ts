import { Controller, Get } from '@nestjs/common';
import { Abilities, type Caller, CurrentCaller } from '@svc/auth';

@Controller('reports')
export class ReportsController {
  @Get()
  @Abilities('reports.read')
  list(@CurrentCaller() { userId }: Caller) {
    return { reader: userId, reports: ['2026'] };
  }

  @Get('audit')
  @Abilities('reports.audit')
  audit() {
    return { reports: ['every access'] };
  }
}
