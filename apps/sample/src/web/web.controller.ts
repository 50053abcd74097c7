import { Controller, Get, Header, Inject, NotFoundException, Param, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readAssets } from './assets';
import { OwnHost } from './own-host.guard';
import { PAGE_CONFIG, type PageConfig } from './page-config';
import { PageHeaders } from './page-headers';

const APP = join(__dirname, 'app');
const QR_CODES = join(dirname(require.resolve('qrcode-generator')), 'qrcode.mjs');

/** Serves the page of the sample: one document and its files. */
@Controller()
@UseGuards(OwnHost)
export class WebController {
  private readonly page = readFileSync(join(APP, 'index.html'), 'utf8');
  private readonly assets = readAssets(APP, { 'vendor/qrcode-generator.js': QR_CODES });

  constructor(@Inject(PAGE_CONFIG) private readonly config: () => PageConfig) {}

  /** Links in mails and providers open the page, too. Only the page reads their parameters. */
  @Get([
    '',
    'reset-password',
    'verified',
    'sign-in-code',
    'confirm-email',
    'undo-email',
    'unknown-sign-in',
    'signed-in',
  ])
  @PageHeaders()
  show(): string {
    return this.page;
  }

  @Get('web/config')
  @Header('Cache-Control', 'no-store')
  configuration(): PageConfig {
    return this.config();
  }

  @Get('web/*path')
  @Header('Cache-Control', 'no-cache')
  @Header('X-Content-Type-Options', 'nosniff')
  @Header('Cross-Origin-Resource-Policy', 'same-origin')
  asset(@Param('path') path: string[], @Res({ passthrough: true }) response: Response): string {
    const asset = this.assets.get(path.join('/'));
    if (!asset) throw new NotFoundException();
    response.type(asset.type);
    return asset.text;
  }
}
