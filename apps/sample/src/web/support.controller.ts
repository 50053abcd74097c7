import { Controller, Get, Header, Inject, UseGuards } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OwnHost } from './own-host.guard';
import { PageHeaders } from './page-headers';
import { SUPPORT_CONFIG, type SupportConfig } from './support-config';

/** Serves the page of the operators. Its files are below `/web/support`, and its data comes from the routes of the guard `admin`. */
@Controller('support')
@UseGuards(OwnHost)
export class SupportController {
  private readonly page = readFileSync(join(__dirname, 'app/support/index.html'), 'utf8');

  constructor(@Inject(SUPPORT_CONFIG) private readonly config: () => SupportConfig) {}

  @Get()
  @PageHeaders()
  show(): string {
    return this.page;
  }

  @Get('config')
  @Header('Cache-Control', 'no-store')
  configuration(): SupportConfig {
    return this.config();
  }
}
